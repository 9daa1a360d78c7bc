//! MPTCP options: the bytes of every form of RFC 8684, and ignored options.

use std::net::IpAddr;

use mptcp_wire::{
    AddAddress, DataSequence, Dss, EmitError, Mapping, MpCapable, MpJoin, MpPrio, MpTcpRst, MptcpOption,
    Options, RemoveAddress, ResetReason,
};

const KEY_A: u64 = 0x0102_0304_0506_0708;
const KEY_B: u64 = 0x1112_1314_1516_1718;
const KEY_A_BYTES: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
const KEY_B_BYTES: [u8; 8] = [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18];

/// The option encodes to exactly these bytes, without padding, and they parse to this option.
fn is_written(option: MptcpOption, bytes: &[&[u8]]) {
    let mut bytes = bytes.concat();
    assert_eq!(option.length(), bytes.len(), "{option:?}");
    bytes.resize(bytes.len().next_multiple_of(4), 1);
    let mut options = Options::default();
    options.mptcp.push(option);
    assert_eq!(options.emit().expect("a form").as_slice(), bytes, "{options:?}");
    assert_eq!(Options::parse(&bytes), Ok(options));
}

fn dss_is_written(dss: Dss, bytes: &[&[u8]]) {
    let mut bytes = bytes.concat();
    assert_eq!(dss.length(), bytes.len(), "{dss:?}");
    bytes.resize(bytes.len().next_multiple_of(4), 1);
    let mut options = Options::default();
    options.dss = Some(dss);
    assert_eq!(options.emit().expect("a form").as_slice(), bytes, "{dss:?}");
    assert_eq!(Options::parse(&bytes), Ok(options));
}

/// The bytes parse to no option, and are kept.
fn is_ignored(option: &[u8]) {
    let mut bytes = option.to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 1);
    let options = Options::parse(&bytes).expect("no malformed length");
    assert!(!options.has_mptcp(), "{bytes:?} is {options:?}");
    assert_eq!(options.emit().expect("a form").as_slice(), bytes);
}

fn has_no_form(option: MptcpOption) {
    let mut options = Options::default();
    options.mptcp.push(option);
    let error = options.emit().expect_err("no form");
    assert!(matches!(error, EmitError::Form { .. }), "{error}");
}

fn capable() -> MpCapable {
    MpCapable { version: 1, flags: MpCapable::HMAC, sender_key: None, receiver_key: None, data: None }
}

#[test]
fn mp_capable_has_five_forms() {
    let syn = capable();
    is_written(MptcpOption::Capable(syn), &[&[30, 4, 0x01, 0x01]]);
    let syn_ack = MpCapable { sender_key: Some(KEY_A), ..syn };
    is_written(MptcpOption::Capable(syn_ack), &[&[30, 12, 0x01, 0x01], &KEY_A_BYTES]);
    let ack = MpCapable { receiver_key: Some(KEY_B), ..syn_ack };
    is_written(MptcpOption::Capable(ack), &[&[30, 20, 0x01, 0x01], &KEY_A_BYTES, &KEY_B_BYTES]);
    let data = MpCapable { data: Some((0x1234, None)), ..ack };
    is_written(
        MptcpOption::Capable(data),
        &[&[30, 22, 0x01, 0x01], &KEY_A_BYTES, &KEY_B_BYTES, &[0x12, 0x34]],
    );
    let flags = MpCapable::HMAC | MpCapable::CHECKSUM_REQUIRED;
    let checked = MpCapable { data: Some((0x1234, Some(0x5678))), flags, ..data };
    is_written(
        MptcpOption::Capable(checked),
        &[&[30, 24, 0x01, 0x81], &KEY_A_BYTES, &KEY_B_BYTES, &[0x12, 0x34, 0x56, 0x78]],
    );
}

#[test]
fn other_versions_and_all_flags_of_mp_capable_are_handed_up() {
    is_written(
        MptcpOption::Capable(MpCapable { version: 2, flags: 0xff, ..capable() }),
        &[&[30, 4, 2, 0xff]],
    );
    is_written(
        MptcpOption::Capable(MpCapable { version: 0, sender_key: Some(KEY_A), ..capable() }),
        &[&[30, 12, 0, 1], &KEY_A_BYTES],
    );
}

#[test]
fn mp_join_has_a_form_for_each_step() {
    let (address_id, token, nonce) = (5, 0x0102_0304, 0x1112_1314);
    is_written(
        MptcpOption::Join(MpJoin::Syn { backup: true, address_id, token, nonce }),
        &[&[30, 12, 0x11, 5], &KEY_A_BYTES[..4], &KEY_B_BYTES[..4]],
    );
    is_written(
        MptcpOption::Join(MpJoin::SynAck { backup: false, address_id, hmac: KEY_A, nonce }),
        &[&[30, 16, 0x10, 5], &KEY_A_BYTES, &KEY_B_BYTES[..4]],
    );
    is_written(MptcpOption::Join(MpJoin::Ack { hmac: [7; 20] }), &[&[30, 24, 0x10, 0], &[7; 20]]);
}

#[test]
fn dss_has_every_mixture_of_widths_and_parts() {
    let acks: [(Option<DataSequence>, u8, &[u8]); 3] = [
        (None, 0, &[]),
        (Some(DataSequence::Short(0x0102_0304)), 0x01, &KEY_A_BYTES[..4]),
        (Some(DataSequence::Wide(KEY_A)), 0x03, &KEY_A_BYTES),
    ];
    let sequences: [(DataSequence, u8, &[u8]); 2] = [
        (DataSequence::Short(0x1112_1314), 0x04, &KEY_B_BYTES[..4]),
        (DataSequence::Wide(KEY_B), 0x0c, &KEY_B_BYTES),
    ];
    for (ack, ack_flags, ack_bytes) in acks {
        for (data_fin, fin_flag) in [(false, 0), (true, 0x10)] {
            let alone = [30, 4 + ack_bytes.len() as u8, 0x20, ack_flags | fin_flag];
            dss_is_written(Dss { ack, mapping: None, data_fin }, &[&alone, ack_bytes]);
            for (sequence, flags, sequence_bytes) in sequences {
                for checksum in [None, Some(0xabcd)] {
                    let mapping = Mapping { sequence, subflow_sequence: 1, length: 0x1234, checksum };
                    let sum: &[u8] = if checksum.is_some() { &[0xab, 0xcd] } else { &[] };
                    let rest = [sequence_bytes, &[0, 0, 0, 1, 0x12, 0x34], sum].concat();
                    let length = (4 + ack_bytes.len() + rest.len()) as u8;
                    dss_is_written(
                        Dss { ack, mapping: Some(mapping), data_fin },
                        &[&[30, length, 0x20, ack_flags | flags | fin_flag], ack_bytes, &rest],
                    );
                }
            }
        }
    }
}

#[test]
fn a_full_dss_and_timestamps_fill_the_header_exactly() {
    let mut options = Options::default();
    options.timestamps = Some(mptcp_wire::Timestamps { value: 1, echo: 2 });
    let sequence = DataSequence::Wide(KEY_B);
    let mapping = Mapping { sequence, subflow_sequence: 1, length: 1, checksum: Some(0) };
    options.dss = Some(Dss { ack: Some(DataSequence::Wide(KEY_A)), mapping: Some(mapping), data_fin: false });
    assert_eq!(options.emit().unwrap().len(), 40);
    options.sack.push(Default::default());
    assert_eq!(options.emit(), Err(EmitError::OptionSpace { length: 52 }));
}

#[test]
fn a_dss_of_any_other_length_than_its_flags_say_is_ignored() {
    for flags in 0..32u8 {
        let ack = [0, 4, 0, 8][usize::from(flags & 3)];
        let mapping = [0, 10, 0, 14][usize::from(flags >> 2 & 3)];
        let exact = 4 + ack + mapping;
        for length in 4..=36 {
            let mut option = vec![0; length];
            option[..4].copy_from_slice(&[30, length as u8, 0x20, flags]);
            if length == exact || mapping > 0 && length == exact + 2 {
                option.resize(length.next_multiple_of(4), 1);
                assert!(Options::parse(&option).unwrap().dss.is_some(), "{option:?}");
            } else {
                is_ignored(&option);
            }
        }
    }
}

#[test]
fn add_addr_has_both_families_ports_and_echoes() {
    let v6: [u8; 16] = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let addresses: [(IpAddr, &[u8]); 2] = [([192, 0, 2, 1].into(), &[192, 0, 2, 1]), (v6.into(), &v6)];
    for (address, address_bytes) in addresses {
        for (port, port_bytes) in [(None, &[][..]), (Some(8080), &[0x1f, 0x90])] {
            let length = (4 + address_bytes.len() + port_bytes.len()) as u8;
            let echo = AddAddress { echo: true, id: 9, address, port, hmac: None };
            is_written(MptcpOption::AddAddress(echo), &[&[30, length, 0x31, 9], address_bytes, port_bytes]);
            let announcement = AddAddress { echo: false, hmac: Some(KEY_A), ..echo };
            is_written(
                MptcpOption::AddAddress(announcement),
                &[&[30, length + 8, 0x30, 9], address_bytes, port_bytes, &KEY_A_BYTES],
            );
        }
    }
}

#[test]
fn an_announcement_without_hmac_or_an_echo_with_one_is_ignored() {
    for length in [8, 10, 20, 22] {
        let mut option = vec![0; length];
        option[..4].copy_from_slice(&[30, length as u8, 0x30, 1]);
        is_ignored(&option);
    }
    for length in [16, 18, 28, 30] {
        let mut option = vec![0; length];
        option[..4].copy_from_slice(&[30, length as u8, 0x31, 1]);
        is_ignored(&option);
    }
}

#[test]
fn an_announcement_of_version_0_says_the_ip_version_and_signs_nothing() {
    let v4 = [192, 0, 2, 1];
    let v6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    for (address, bytes, low) in [(v4.into(), &v4[..], 4), (std::net::IpAddr::from(v6), &v6[..], 6)] {
        for port in [None, Some(8080)] {
            let add = AddAddress { echo: false, id: 7, address, port, hmac: None };
            let tail: &[u8] = if port.is_some() { &[0x1f, 0x90] } else { &[] };
            let length = (4 + bytes.len() + tail.len()) as u8;
            is_written(MptcpOption::AddAddress(add), &[&[30, length, 0x30 | low, 7], bytes, tail]);
        }
    }
    // The version contradicts the size of the address.
    is_ignored(&[30, 8, 0x36, 7, 192, 0, 2, 1]);
}

#[test]
fn the_small_options() {
    for count in [1, 2, 8, 37] {
        let ids: Vec<u8> = (0..count).collect();
        let remove = RemoveAddress { ids: ids.iter().copied().collect() };
        is_written(MptcpOption::RemoveAddress(remove), &[&[30, 3 + count, 0x40], &ids]);
    }
    is_written(MptcpOption::Prio(MpPrio { backup: true, address_id: None }), &[&[30, 3, 0x51]]);
    is_written(MptcpOption::Prio(MpPrio { backup: false, address_id: None }), &[&[30, 3, 0x50]]);
    // RFC 6824 section 3.3.8: with an address ID.
    is_written(MptcpOption::Prio(MpPrio { backup: true, address_id: Some(9) }), &[&[30, 4, 0x51, 9]]);
    is_written(MptcpOption::Fail(KEY_A), &[&[30, 12, 0x60, 0], &KEY_A_BYTES]);
    is_written(MptcpOption::FastClose(KEY_B), &[&[30, 12, 0x70, 0], &KEY_B_BYTES]);
    is_written(
        MptcpOption::TcpRst(MpTcpRst { flags: 0x9, reason: ResetReason::MIDDLEBOX }),
        &[&[30, 4, 0x89, 6]],
    );
}

#[test]
fn a_size_that_no_form_has_is_ignored_for_every_subtype() {
    let sizes: [(u8, &[usize]); 8] = [
        (0x0, &[4, 12, 20, 22, 24]),
        (0x1, &[12, 16, 24]),
        (0x3, &[16, 18, 28, 30]),
        (0x5, &[3, 4]),
        (0x6, &[12]),
        (0x7, &[12]),
        (0x8, &[4]),
        (0xf, &[]),
    ];
    for (subtype, known) in sizes {
        for length in (2..=40).filter(|length| !known.contains(length)) {
            let mut option = vec![0; length];
            let head = [30, length as u8, subtype << 4];
            option.iter_mut().zip(head).for_each(|(to, byte)| *to = byte);
            is_ignored(&option);
        }
    }
    is_ignored(&[30, 3, 0x40]);
}

#[test]
fn reserved_bits_are_kept_but_mean_nothing() {
    let bytes = [30, 12, 0x1e, 5, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14];
    let mut options = Options::parse(&bytes).unwrap();
    assert_eq!(options.emit().unwrap().as_slice(), bytes);
    options.make_canonical();
    let [MptcpOption::Join(MpJoin::Syn { backup: false, .. })] = options.mptcp[..] else {
        panic!("{options:?}")
    };
}

#[test]
fn several_options_stay_in_their_order() {
    let bytes = [30, 3, 0x51, 1, 30, 4, 0x40, 7, 30, 4, 0x40, 8];
    let options = Options::parse(&bytes).unwrap();
    assert_eq!(options.mptcp.len(), 3);
    let mut canonical = options.clone();
    canonical.make_canonical();
    assert_eq!(canonical, options);
}

#[test]
fn values_that_no_form_carries_are_refused() {
    has_no_form(MptcpOption::Capable(MpCapable { version: 16, ..capable() }));
    has_no_form(MptcpOption::Capable(MpCapable { receiver_key: Some(KEY_B), ..capable() }));
    has_no_form(MptcpOption::Capable(MpCapable {
        data: Some((1, None)),
        sender_key: Some(KEY_A),
        ..capable()
    }));
    let address = [192, 0, 2, 1].into();
    has_no_form(MptcpOption::AddAddress(AddAddress {
        echo: true,
        id: 1,
        address,
        port: None,
        hmac: Some(1),
    }));
    has_no_form(MptcpOption::RemoveAddress(RemoveAddress::default()));
    has_no_form(MptcpOption::TcpRst(MpTcpRst { flags: 0x10, reason: ResetReason::MPTCP }));
}
