//! Synonyms of scenario keys and names, from `tc`, `ip`, `sysctl` and other tools.
//!
//! Owns only words. Error messages suggest the right key for them, and no scenario is translated.

/// A name in scenarios, and its synonyms in lower case with `_`.
pub const WORDS: &[(&str, &[&str])] = &[
    // Links.
    ("delay", &["latency", "lat", "owd", "one_way_delay", "propagation", "propagation_delay", "netem_delay"]),
    ("rtt", &["round_trip", "round_trip_time", "ping", "min_rtt"]),
    (
        "rate",
        &[
            "bandwidth",
            "bw",
            "speed",
            "capacity",
            "throughput",
            "bitrate",
            "data_rate",
            "link_rate",
            "goodput",
        ],
    ),
    ("loss", &["loss_rate", "packet_loss", "loss_probability", "plr", "losses", "per", "drop", "drop_rate"]),
    ("gilbert_elliott", &["gemodel", "burst_loss", "gilbert", "ge"]),
    (
        "queue",
        &[
            "buffer",
            "limit",
            "queue_size",
            "queue_limit",
            "queue_length",
            "buffer_size",
            "qlen",
            "txqueuelen",
        ],
    ),
    ("jitter", &["delay_variation", "variation", "variance", "delay_jitter", "pdv"]),
    ("duplicate", &["dup", "duplication"]),
    ("corrupt", &["corruption", "bit_errors"]),
    ("reorder", &["reordering"]),
    ("mark", &["ecn_threshold", "marking"]),
    ("up", &["enabled", "active", "down", "disabled"]),
    ("mtu", &["mss", "max_frame", "frame_size"]),
    // Flows.
    ("mss", &["mtu", "segment_size", "maxseg", "tcp_maxseg"]),
    (
        "congestion",
        &[
            "cc",
            "cca",
            "congestion_control",
            "congestion_controller",
            "tcp_congestion",
            "algorithm",
            "controller",
        ],
    ),
    ("scheduler", &["sched", "packet_scheduler"]),
    ("path_manager", &["pm", "pathmanager", "manager"]),
    (
        "rcvbuf",
        &[
            "buffer",
            "recvbuf",
            "receive_buffer",
            "rcv_buf",
            "so_rcvbuf",
            "rmem",
            "tcp_rmem",
            "rwnd",
            "receive_window",
        ],
    ),
    ("sndbuf", &["send_buffer", "sendbuf", "snd_buf", "so_sndbuf", "wmem", "tcp_wmem"]),
    ("transport", &["protocol", "proto"]),
    ("from", &["source", "src", "client", "sender", "host"]),
    ("to", &["destination", "dst", "dest", "server", "receiver", "peer"]),
    ("paths", &["path", "interfaces", "networks", "subflow_paths"]),
    ("bytes", &["size", "filesize", "file_size", "file", "transfer", "amount"]),
    ("datagram", &["packet_size", "datagram_size", "payload"]),
    ("start", &["begin", "start_time", "starts", "after", "delay"]),
    ("stop", &["end", "stop_time", "stops", "until"]),
    ("count", &["number", "n", "copies", "parallel", "repeat"]),
    ("initial_window", &["iw", "icwnd", "initcwnd", "init_cwnd", "initial_cwnd"]),
    ("ssthresh", &["slow_start_threshold", "initial_ssthresh"]),
    ("min_rto", &["rto_min", "minimum_rto"]),
    ("delayed_ack", &["delack", "delayed_acks"]),
    ("notsent_lowat", &["lowat", "tcp_notsent_lowat"]),
    ("opportunistic_retransmission", &["m1", "opportunistic_rtx", "reinjection"]),
    ("penalisation", &["m2", "penalization", "penalise", "penalize"]),
    ("small_queues", &["tsq", "tcp_small_queues"]),
    ("direction", &["reverse", "way"]),
    ("baselines", &["baseline", "compare"]),
    // The scenario, its tables, events.
    ("duration", &["time", "length", "runtime", "run_time", "seconds", "simulation_time"]),
    ("warmup", &["warm_up", "transient"]),
    ("sample", &["interval", "sampling", "sample_interval", "resolution"]),
    ("at", &["time", "when", "start"]),
    ("set", &["change", "changes", "values"]),
    ("how", &["mode", "type"]),
    ("flows", &["flow", "connections", "connection", "streams", "traffic"]),
    ("events", &["event", "changes", "schedule"]),
    ("links", &["link", "edges"]),
    ("relays", &["routers", "switches"]),
    ("kind", &["type", "name", "model", "discipline"]),
    // Names of policies.
    ("minrtt", &["lowest_rtt", "lowrtt", "lowest_rtt_first", "default", "min_rtt", "minsrtt"]),
    ("roundrobin", &["rr", "round_robin"]),
    ("redundant", &["duplicate", "duplication", "copy"]),
    ("reno", &["newreno", "new_reno", "uncoupled"]),
    ("lia", &["coupled", "linked_increases"]),
    ("mptcp", &["multipath", "mp_tcp", "multipath_tcp"]),
];

/// The choice that has `word` as a synonym; `None` if no choice has it.
pub(super) fn meant<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace(['-', ' '], "_");
    let of =
        |choice: &str| WORDS.iter().find(|(known, _)| *known == choice).map_or(&[][..], |(_, words)| words);
    // If two choices have the word, the first in `WORDS` wins.
    let rank = |choice: &str| WORDS.iter().position(|(known, _)| *known == choice);
    choices.into_iter().filter(|choice| of(choice).contains(&word.as_str())).min_by_key(|choice| rank(choice))
}
