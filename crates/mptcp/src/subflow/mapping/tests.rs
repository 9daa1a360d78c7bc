//! Tests of mappings (RFC 8684 sections 3.3.1 and 3.7).

use super::*;

/// A mapper and its delivered data: data offset and bytes.
struct Bench {
    mapper: Mapper,
    delivered: Vec<(u64, Vec<u8>)>,
}

impl Bench {
    fn new() -> Self {
        Self { mapper: Mapper::new(1 << 20, 0), delivered: Vec::new() }
    }

    /// Announces that `length` bytes from subflow offset `start` have data offsets from `data`.
    fn announce(&mut self, start: u64, length: u64, data: u64, next: u64) -> bool {
        self.mapper.announce(ReceivedMapping { start, length, data, checksum: None }, next)
    }

    /// Announces a mapping with a checksum for this payload, valid or not.
    fn announce_summed(&mut self, start: u64, data: u64, payload: &[u8], right: bool, next: u64) {
        let (dsn, subflow_sequence, length) = (1000 + data, start as u32 + 1, payload.len() as u16);
        let mut sum = Checksum::dss(dsn, subflow_sequence, length);
        sum.add(payload);
        let checksum = if right { sum.value() } else { sum.value() ^ 1 };
        let wire = WireMapping { dsn, subflow_sequence, length, checksum };
        let length = u64::from(length);
        assert!(self.mapper.announce(ReceivedMapping { start, length, data, checksum: Some(wire) }, next));
    }

    fn map(&mut self, start: u64, payload: &[u8]) -> Result<(), (MappingFault, Vec<u8>)> {
        let delivered = &mut self.delivered;
        let payload = Bytes::copy_from_slice(payload);
        let mapped = self.mapper.map(start, payload, |data, part| delivered.push((data, part.to_vec())));
        mapped.map_err(|(fault, rest)| (fault, rest.to_vec()))
    }

    fn took(&mut self) -> Vec<(u64, Vec<u8>)> {
        std::mem::take(&mut self.delivered)
    }
}

fn parts(parts: &[(u64, &[u8])]) -> Vec<(u64, Vec<u8>)> {
    parts.iter().map(|(data, part)| (*data, part.to_vec())).collect()
}

#[test]
fn payload_has_the_data_offset_of_its_mapping() {
    let mut bench = Bench::new();
    assert!(bench.announce(10, 6, 500, 10));
    assert_eq!((bench.mapper.place_of(10, 6), bench.mapper.place_of(12, 4)), (Some(500), Some(502)));
    assert_eq!((bench.mapper.place_of(12, 5), bench.mapper.place_of(9, 2)), (None, None));
    // In several parts.
    assert_eq!(bench.map(10, b"ab"), Ok(()));
    assert_eq!(bench.map(12, b"cdef"), Ok(()));
    assert_eq!(bench.took(), parts(&[(500, b"ab"), (502, b"cdef")]));
    assert_eq!(bench.map(16, b"gh"), Err((MappingFault::Unmapped, b"gh".to_vec())), "the mapping has ended");
    assert_eq!(bench.mapper.mappings(), 0);
}

#[test]
fn a_segment_may_lie_under_several_mappings() {
    let mut bench = Bench::new();
    for (start, data) in [(0, 100), (4, 300), (2, 200)] {
        assert!(bench.announce(start, 2, data, 0));
    }
    assert_eq!(bench.mapper.mappings(), 3);
    assert_eq!(bench.mapper.place_of(0, 2), None, "there are other mappings");
    assert_eq!(bench.map(0, b"abcdefgh"), Err((MappingFault::Unmapped, b"gh".to_vec())));
    assert_eq!(bench.took(), parts(&[(100, b"ab"), (200, b"cd"), (300, b"ef")]));
}

#[test]
fn before_a_mapping_begins_nothing_is_mapped() {
    let mut bench = Bench::new();
    assert!(bench.announce(4, 4, 100, 0));
    assert_eq!(bench.map(2, b"ab"), Err((MappingFault::Unmapped, b"ab".to_vec())));
    assert_eq!(bench.map(4, b"abcd"), Ok(()));
    assert_eq!(bench.took(), parts(&[(100, b"abcd")]));
}

/// Section 3.3.1: an announced mapping holds.
#[test]
fn the_first_mapping_of_a_byte_holds() {
    for order in [[(0, 8, 100), (0, 8, 900), (2, 2, 700)], [(0, 8, 100), (2, 2, 700), (0, 4, 900)]] {
        let mut bench = Bench::new();
        for (start, length, data) in order {
            assert!(bench.announce(start, length, data, 0));
        }
        assert_eq!(bench.map(0, b"abcdefgh"), Ok(()));
        assert_eq!(bench.took(), parts(&[(100, b"abcdefgh")]));
    }
    // A repeated announcement of a mapping in use changes nothing.
    let mut bench = Bench::new();
    assert!(bench.announce(0, 8, 100, 0));
    assert_eq!(bench.map(0, b"abcd"), Ok(()));
    assert!(bench.announce(0, 8, 100, 4) && bench.announce(4, 4, 900, 4));
    assert_eq!(bench.map(4, b"efgh"), Ok(()));
    assert_eq!(bench.took(), parts(&[(100, b"abcd"), (104, b"efgh")]));
}

#[test]
fn received_data_needs_no_mapping() {
    let mut bench = Bench::new();
    assert!(bench.announce(0, 10, 100, 10), "before the next expected offset");
    assert!(bench.announce(12, 0, 100, 10), "an empty mapping");
    assert_eq!(bench.mapper.mappings(), 0);
    assert!(bench.announce(0, 11, 100, 10), "one byte is left");
    assert_eq!(bench.mapper.mappings(), 1);
    assert_eq!(bench.map(10, b"a"), Ok(()));
    assert_eq!(bench.took(), parts(&[(110, b"a")]));
}

/// Announcements without data do not exhaust memory, and the next data always has space.
#[test]
fn mappings_are_bounded_and_the_next_one_has_a_place() {
    let mut bench = Bench::new();
    let most = most_pieces(1 << 20) as u64;
    let taken = (1..=most + 50).filter(|&at| bench.announce(at * 10, 10, at * 10, 0)).count() as u64;
    assert_eq!(taken, most);
    assert!(bench.announce(10, 10, 10, 0), "the mapping is stored");
    assert!(!bench.announce(11, 1, 10, 0));
    assert!(bench.announce(0, 10, 0, 0));
    assert_eq!(bench.map(0, &[7; 30]), Ok(()));
    assert_eq!(
        bench.took().iter().map(|(data, part)| (*data, part.len())).collect::<Vec<_>>(),
        [(0, 10), (10, 10), (20, 10)]
    );
    bench.mapper.clear();
    assert_eq!(bench.mapper.mappings(), 0);
}

/// Section 3.3.1: payload with a checksum is not delivered before its mapping is complete.
#[test]
fn payload_waits_for_its_checksum() {
    let mut bench = Bench::new();
    bench.announce_summed(20, 700, b"abcdefg", true, 20);
    assert_eq!(bench.mapper.place_of(20, 7), None, "the checksum is pending");
    assert_eq!(bench.map(20, b"abc"), Ok(()));
    assert_eq!(bench.map(23, b"de"), Ok(()));
    assert_eq!((bench.took(), bench.mapper.waiting()), (vec![], 5));
    assert!(bench.mapper.held() >= 5);
    assert_eq!(bench.map(25, b"fg"), Ok(()));
    let took = bench.took();
    let at = |(data, part): &(u64, Vec<u8>)| (*data - 700) as usize..(*data - 700) as usize + part.len();
    assert!(took.iter().all(|part| part.1 == b"abcdefg"[at(part)]), "{took:?}");
    assert_eq!((took.iter().map(|(_, part)| part.len()).sum::<usize>(), bench.mapper.waiting()), (7, 0));
}

/// Section 3.7: data with a wrong checksum is returned, with the data after it.
#[test]
fn a_wrong_checksum_is_a_fault_at_the_start_of_its_data() {
    let mut bench = Bench::new();
    bench.announce_summed(0, 100, b"ab", true, 0);
    bench.announce_summed(2, 300, b"cdef", false, 0);
    let fault = bench.map(0, b"abcdefgh");
    assert_eq!(fault, Err((MappingFault::BadChecksum { data: 300 }, b"gh".to_vec())));
    assert_eq!((bench.took(), bench.mapper.waiting()), (parts(&[(100, b"ab")]), 4));
    let held = bench.mapper.take_held();
    assert_eq!((held.concat(), bench.mapper.waiting()), (b"cdef".to_vec(), 0));
}

/// Section 3.7: after fallback, all data is mapped one to one, and other mappings are ignored.
#[test]
fn an_infinite_mapping_ends_all_others() {
    let mut bench = Bench::new();
    assert!(bench.announce(0, 4, 100, 0) && bench.announce(8, 4, 900, 0));
    assert!(!bench.mapper.is_infinite());
    assert_eq!(bench.mapper.data_at(5), None);
    bench.mapper.set_infinite(4, 50);
    assert!(bench.mapper.is_infinite() && bench.mapper.mappings() == 0);
    assert_eq!([3, 4, 9].map(|offset| bench.mapper.data_at(offset)), [None, Some(50), Some(55)]);
    assert!(bench.announce(6, 4, 900, 4));
    assert_eq!((bench.mapper.mappings(), bench.mapper.place_of(6, 100)), (0, Some(52)));
    assert_eq!(bench.map(6, b"abc"), Ok(()));
    assert_eq!(bench.took(), parts(&[(52, b"abc")]));
}
