//! Proptest strategies for all segments that can be encoded.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcp_wire::{
    AddAddress, Codepoint, DataSequence, Dss, Flags, Mapping, MpCapable, MpJoin, MpPrio, MpTcpRst,
    MptcpOption, Options, RemoveAddress, ResetReason, Segment, Seq, Timestamps,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Any segment with options that fit a header, between addresses of one family.
pub fn segment() -> impl Strategy<Value = Segment> {
    let numbers = any::<(u32, u32, u16, u16, u16, u8)>();
    let payload = vec(any::<u8>(), 0..1500).prop_map(Bytes::from);
    (addresses(), numbers, options(), payload).prop_map(
        |((source, destination), numbers, options, payload)| {
            let (sequence, acknowledgment, flags, window, urgent, ecn) = numbers;
            Segment {
                sequence: Seq::new(sequence),
                acknowledgment: Seq::new(acknowledgment),
                flags: Flags::from_bits(flags),
                window,
                urgent,
                ecn: Codepoint::from_bits(ecn),
                options,
                payload,
                ..Segment::new(source, destination)
            }
        },
    )
}

/// Any options that fit. Excess options are dropped: the last MPTCP options first, then the rest.
pub fn options() -> impl Strategy<Value = Options> {
    let tcp = (
        option::weighted(0.2, any::<u16>()),
        option::weighted(0.2, any::<u8>()),
        prop::bool::weighted(0.2),
        option::of(any::<(u32, u32)>()),
        prop_oneof![3 => Just(vec![]), 1 => vec(any::<(u32, u32)>(), 1..=4)],
    );
    (tcp, option::of(dss()), vec(mptcp_option(), 0..3)).prop_map(|(tcp, dss, mptcp)| {
        let mut options = Options::default();
        (options.dss, options.mptcp) = (dss, mptcp);
        let (timestamps, sack);
        (options.mss, options.window_scale, options.sack_permitted, timestamps, sack) = tcp;
        options.timestamps = timestamps.map(|(value, echo)| Timestamps { value, echo });
        options.sack = sack.into_iter().map(|(left, right)| (Seq::new(left), Seq::new(right))).collect();
        while options.length() > Options::SPACE {
            if options.mptcp.pop().is_none() && options.sack.pop().is_none() {
                options.mss = None;
                options.window_scale = None;
            }
        }
        options
    })
}

fn addresses() -> impl Strategy<Value = (SocketAddr, SocketAddr)> {
    let pair = prop_oneof![
        any::<([u8; 4], [u8; 4])>().prop_map(|(a, b)| (IpAddr::from(a), IpAddr::from(b))),
        any::<([u8; 16], [u8; 16])>().prop_map(|(a, b)| (IpAddr::from(a), IpAddr::from(b))),
    ];
    (pair, any::<(u16, u16)>())
        .prop_map(|((a, b), (from, to))| (SocketAddr::new(a, from), SocketAddr::new(b, to)))
}

fn dss() -> impl Strategy<Value = Dss> {
    let mapping = (data_sequence(), any::<u32>(), any::<u16>(), any::<Option<u16>>()).prop_map(
        |(sequence, subflow_sequence, length, checksum)| Mapping {
            sequence,
            subflow_sequence,
            length,
            checksum,
        },
    );
    (option::of(data_sequence()), option::of(mapping), any::<bool>())
        .prop_map(|(ack, mapping, data_fin)| Dss { ack, mapping, data_fin })
}

fn data_sequence() -> impl Strategy<Value = DataSequence> {
    prop_oneof![any::<u32>().prop_map(DataSequence::Short), any::<u64>().prop_map(DataSequence::Wide),]
}

fn mptcp_option() -> impl Strategy<Value = MptcpOption> {
    prop_oneof![
        capable().prop_map(MptcpOption::Capable),
        join().prop_map(MptcpOption::Join),
        add_address().prop_map(MptcpOption::AddAddress),
        vec(any::<u8>(), 1..=37)
            .prop_map(|ids| MptcpOption::RemoveAddress(RemoveAddress { ids: ids.into_iter().collect() })),
        any::<(bool, Option<u8>)>()
            .prop_map(|(backup, address_id)| MptcpOption::Prio(MpPrio { backup, address_id })),
        any::<u64>().prop_map(MptcpOption::Fail),
        any::<u64>().prop_map(MptcpOption::FastClose),
        (0u8..16, any::<u8>())
            .prop_map(|(flags, reason)| MptcpOption::TcpRst(MpTcpRst { flags, reason: ResetReason(reason) })),
    ]
}

fn capable() -> impl Strategy<Value = MpCapable> {
    (0u8..16, any::<(u8, u64, u64, u16, u16)>(), 0..5).prop_map(|(version, values, form)| {
        let (flags, sender_key, receiver_key, length, checksum) = values;
        MpCapable {
            version,
            flags,
            sender_key: (form > 0).then_some(sender_key),
            receiver_key: (form > 1).then_some(receiver_key),
            data: (form > 2).then_some((length, (form > 3).then_some(checksum))),
        }
    })
}

fn join() -> impl Strategy<Value = MpJoin> {
    prop_oneof![
        any::<(bool, u8, u32, u32)>().prop_map(|(backup, address_id, token, nonce)| MpJoin::Syn {
            backup,
            address_id,
            token,
            nonce
        }),
        any::<(bool, u8, u64, u32)>().prop_map(|(backup, address_id, hmac, nonce)| MpJoin::SynAck {
            backup,
            address_id,
            hmac,
            nonce
        }),
        any::<[u8; 20]>().prop_map(|hmac| MpJoin::Ack { hmac }),
    ]
}

fn add_address() -> impl Strategy<Value = AddAddress> {
    let address =
        prop_oneof![any::<[u8; 4]>().prop_map(IpAddr::from), any::<[u8; 16]>().prop_map(IpAddr::from),];
    let values = any::<(u8, Option<u16>, Option<u64>, bool)>();
    (address, values).prop_map(|(address, (id, port, hmac, echo))| AddAddress {
        echo: echo && hmac.is_none(),
        id,
        address,
        port,
        hmac,
    })
}
