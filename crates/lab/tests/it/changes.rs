//! Changes to a stream: mapping between original and modified offsets.

use bytes::Bytes;
use mptcp_lab::middlebox::changes::Changes;

/// The modified parts of a stream are contiguous for any segmentation, and acknowledgements map back.
#[test]
fn parts_meet_wherever_they_are_cut() {
    let gateway = Changes::new(10, 3);
    let stream = Bytes::from((0..47_u8).collect::<Vec<_>>());
    let whole = gateway.change(0, &stream);
    assert_eq!(whole.len() as u64, gateway.outside(47));
    for cut in 0..=47_u64 {
        let [first, second] = [stream.slice(..cut as usize), stream.slice(cut as usize..)];
        let parts = [gateway.change(0, &first), gateway.change(cut, &second)].concat();
        assert_eq!(parts, whole, "{cut}");
        assert_eq!(gateway.change(0, &first).len() as u64, gateway.outside(cut), "{cut}");
        assert_eq!(gateway.inside(gateway.outside(cut)), cut);
    }
}

#[test]
fn half_a_change_acknowledges_what_is_before_it() {
    let gateway = Changes::new(10, 3);
    let places = [0, 10, 11, 12, 13, 14, 23, 24, 26, 27];
    let inside = places.map(|place| gateway.inside(place));
    assert_eq!(inside, [0, 10, 10, 10, 10, 11, 20, 20, 20, 21]);
}
