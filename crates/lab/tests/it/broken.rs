//! Scenarios with one fault each in `broken/`, and the message that each of them gives.

use mptcp_lab::scenario::Scenario;

/// File, and its message starting with the place.
const FAULTS: &[(&str, &str)] = &[
    (
        "background_that_only_pauses",
        r#"background_that_only_pauses.toml:14: background.other.off = "10ms": needs on (try on = "100ms" next to it)"#,
    ),
    (
        "cell_aggregates_without_n",
        r#"cell_aggregates_without_n.toml:4: cells.home.aggregation = true: needs 802.11n, but this cell is 802.11g"#,
    ),
    (
        "cell_on_a_channel_of_the_other_band",
        r#"cell_on_a_channel_of_the_other_band.toml:4: cells.home.channel = 36: must be one of the channels of 802.11g: 1 to 14 (2.4 GHz) (try 1)"#,
    ),
    (
        "coupling_half_said",
        r#"coupling_half_said.toml:17: coupling[0].collision: needs carrier_sense and collision (try "50%")"#,
    ),
    (
        "coupling_with_itself",
        r#"coupling_with_itself.toml:13: coupling[0]: must name two different cells (try cells = ["a", "b"])"#,
    ),
    (
        "cubic_as_whom",
        r#"cubic_as_whom.toml:12: flows.bulk.congestion.as = "windows": expected "rfc9438" or "linux""#,
    ),
    (
        "datagram_of_a_stream",
        r#"datagram_of_a_stream.toml:12: flows.bulk.datagram = "1000B": needs udp (try transport = "udp")"#,
    ),
    (
        "datagrams_of_a_file",
        r#"datagrams_of_a_file.toml:13: flows.bulk.bytes = "1MB": must not be set for udp (use datagram and rate)"#,
    ),
    (
        "event_moves_a_wire",
        r#"event_moves_a_wire.toml:16: events[0].set.distance = "3m": needs a station (for a path, set rate or loss)"#,
    ),
    (
        "event_sets_the_rate_of_a_station",
        r#"event_sets_the_rate_of_a_station.toml:16: events[0].set.rate = "6Mbit": needs a path or link (for a station, set distance)"#,
    ),
    (
        "station_at_a_rate_of_no_standard",
        r#"station_at_a_rate_of_no_standard.toml:6: stations.wlan0.rate = "50Mbit": must be one of the rates of 802.11g: 6Mbit, 9Mbit, 12Mbit, 18Mbit, 24Mbit, 36Mbit, 48Mbit, 54Mbit (nearest: 48Mbit)"#,
    ),
    (
        "station_of_no_cell",
        r#"station_of_no_cell.toml:6: stations.wlan0.cell = "hmoe": there is no cell "hmoe"; did you mean "home"? (there are: home)"#,
    ),
    (
        "station_with_a_bare_distance",
        r#"station_with_a_bare_distance.toml:6: stations.wlan0.distance = 3: a distance needs a unit, such as "3m" or "3cm""#,
    ),
    (
        "backup_of_another_path",
        r#"backup_of_another_path.toml:13: flows.bulk.backup[0] = "3g": is not a path of this flow (its paths are: wifi)"#,
    ),
    (
        "bare_number",
        r#"bare_number.toml:5: paths.wifi.delay = 10: a delay needs a unit, such as "10ms" or "10s""#,
    ),
    (
        "buffer_in_bits",
        r#"buffer_in_bits.toml:12: flows.bulk.rcvbuf = "200Kb": a size must be in one of B, kB, KB, KiB, MB, MiB, GB, GiB, not "Kb" (write "200KB" for kilobytes, "25kB" for kilobits)"#,
    ),
    (
        "cell_whose_window_shrinks",
        r#"cell_whose_window_shrinks.toml:5: cells.home.cw_max = 15: must be at least cw_min, 31"#,
    ),
    (
        "count_of_zero",
        r#"count_of_zero.toml:12: flows.bulk.count = 0: must be between 1 and 10000 (nearest: 1)"#,
    ),
    (
        "delay_and_rtt",
        r#"delay_and_rtt.toml:6: paths.wifi.rtt = "20ms": delay is also given; give only one of them (rtt is twice the delay)"#,
    ),
    ("duration_of_zero", r#"duration_of_zero.toml:1: duration = "0s": must be longer than 0s"#),
    ("empty", r#"empty.toml: duration: a scenario needs a duration (try duration = "60s")"#),
    (
        "event_admin_one_way",
        r#"event_admin_one_way.toml:18: events[0].how = "admin": must not be set for one direction (try how = "blackhole" for that)"#,
    ),
    (
        "event_route_of_a_link_without_a_sender",
        r#"event_route_of_a_link_without_a_sender.toml:21: events[0].how = "route": needs a link of a host that opens flows"#,
    ),
    (
        "event_after_the_end",
        r#"event_after_the_end.toml:14: events[0].at = "41s": must not be after the end of the run (duration 40s)"#,
    ),
    (
        "event_before_the_start",
        r#"event_before_the_start.toml:14: events[0].at = "-1s": a time must not be negative"#,
    ),
    (
        "event_on_unknown_path",
        r#"event_on_unknown_path.toml:15: events[0].path = "wify": there is no path "wify"; did you mean "wifi"? (there are: wifi, 3g)"#,
    ),
    (
        "event_without_change",
        r#"event_without_change.toml:13: events[0]: must change something (try set = { up = false })"#,
    ),
    (
        "event_up_outside_set",
        r#"event_up_outside_set.toml:12: events[0].up: unknown key; did you mean set = { up = false }? (allowed: at, path, link, station, middlebox, flow, direction, set, how)"#,
    ),
    ("event_without_path", r#"event_without_path.toml:13: events[0]: needs a path (try path = "wifi")"#),
    ("event_without_time", r#"event_without_time.toml:13: events[0]: needs a time (try at = "7s")"#),
    (
        "filter_on_unknown_flow",
        r#"filter_on_unknown_flow.toml:15: filters[0].flows[1] = "bulky": there is no flow "bulky"; did you mean "bulk"? (there are: bulk)"#,
    ),
    (
        "filter_that_does_nothing",
        r#"filter_that_does_nothing.toml:13: filters[0]: must delay or lose something (try delay = "50ms" or loss = "1%")"#,
    ),
    (
        "flow_to_itself",
        r#"flow_to_itself.toml:12: flows.bulk.to = "client": must differ from the host in from"#,
    ),
    (
        "gilbert_elliott_without_r",
        r#"gilbert_elliott_without_r.toml:5: paths.wifi.gilbert_elliott: needs p and r (try { p = "1%", r = "25%" })"#,
    ),
    (
        "include_as_string",
        r#"include_as_string.toml:1: include = "base.toml": expected an array of file names (try ["base.toml"])"#,
    ),
    ("include_circle", r#"include_circle_other.toml:1: including include_circle.toml makes a cycle"#),
    ("include_circle_other", r#"include_circle.toml:1: including include_circle_other.toml makes a cycle"#),
    ("include_missing", r#"include_missing.toml:1: cannot read nowhere.toml: there is no such file"#),
    (
        "include_of_a_fault",
        r#"unknown_key.toml:5: paths.wifi.dealy: unknown key; did you mean "delay"? (allowed: rtt, mtu, forward, backward, rate, trace, trace_start, trace_repeat, delay, loss, gilbert_elliott, duplicate, corrupt, slot, slot_frames, jitter, reorder, queue, mark, path_mtu, icmp, up)"#,
    ),
    (
        "link_with_one_end",
        r#"link_with_one_end.toml:8: links.core.ends = ["r"]: must name two different nodes (try ["client", "router"])"#,
    ),
    (
        "link_with_the_name_of_a_path",
        r#"link_with_the_name_of_a_path.toml:13: links.wifi: a path has this name; names of paths and links must differ"#,
    ),
    ("jitter_of_a_minute", r#"jitter_of_a_minute.toml:4: jitter.start = "1min": must be at most 1s"#),
    (
        "loss_as_fraction",
        r#"loss_as_fraction.toml:5: paths.wifi.loss = "0.03": a loss must be in percent (try "3%", or "0.03%" if it is in percent)"#,
    ),
    (
        "loss_over_100",
        r#"loss_over_100.toml:5: paths.wifi.loss = "101%": a loss must be between 0% and 100%"#,
    ),
    (
        "loss_twice",
        r#"loss_twice.toml:5: paths.wifi.loss = "1%": gilbert_elliott is also given; give only one of them"#,
    ),
    ("missing", r#"missing.toml: cannot read missing.toml: there is no such file"#),
    (
        "missing_unit",
        r#"missing_unit.toml:5: paths.wifi.delay = "10": a delay needs a unit, such as "10ms" or "10s""#,
    ),
    (
        "mss_beyond_mtu",
        r#"mss_beyond_mtu.toml:12: flows.bulk.mss = 1480: does not fit the mtu 1500 of "wifi" (at most 1460)"#,
    ),
    (
        "mss_too_small",
        r#"mss_too_small.toml:12: flows.bulk.mss = 20: must be between 88 and 65495 (nearest: 88)"#,
    ),
    (
        "name_with_a_dot",
        r#"name_with_a_dot.toml:13: paths.a.b: the name "a.b" must be made of letters, digits, - and _, with at least one letter"#,
    ),
    ("negative_delay", r#"negative_delay.toml:5: paths.wifi.delay = "-10ms": a delay must not be negative"#),
    ("negative_rate", r#"negative_rate.toml:4: paths.wifi.rate = "-8Mbit": a rate must not be negative"#),
    ("no_duration", r#"no_duration.toml: duration: a scenario needs a duration (try duration = "60s")"#),
    ("no_flows", r#"no_flows.toml: flows: a scenario needs a flow (try [flows.bulk])"#),
    (
        "no_paths",
        r#"no_paths.toml: paths: a scenario needs a path (try [paths.wifi] with rate = "8Mbit" and delay = "10ms")"#,
    ),
    ("not_toml", r#"not_toml.toml:1: this is not TOML: key with no value, expected `=` (in: duration: 40s)"#),
    ("not_utf8", r#"not_utf8.toml: not_utf8.toml is not UTF-8 (byte 28)"#),
    (
        "path_as_array",
        r#"path_as_array.toml:2: paths = ["wifi"]: expected a table (try [name] or { key = value })"#,
    ),
    (
        "path_of_another_host",
        r#"path_of_another_host.toml:12: flows.bulk.paths[0] = "core": does not touch host "client" (its links are: access)"#,
    ),
    (
        "path_of_nobody",
        r#"path_of_nobody.toml:12: flows.bulk.paths[1] = "lte": there is no path or link "lte" (there are: wifi, 3g)"#,
    ),
    ("path_twice", r#"path_twice.toml:13: this is not TOML: duplicate key (in: [paths.wifi])"#),
    (
        "queue_burst_below_a_frame",
        r#"queue_burst_below_a_frame.toml:6: paths.wifi.queue: must have a burst of at least 9014B, a full frame of this link; with 4096B it would never get through"#,
    ),
    (
        "queue_prio_twice",
        r#"queue_prio_twice.toml:5: paths.wifi.queue: must have each flow in one band, but "bulk" is in two"#,
    ),
    (
        "queue_quantum_of_one",
        r#"queue_quantum_of_one.toml:5: paths.wifi.queue.quantum = "1B": must be between 256B and 1073741824B (nearest: 256B)"#,
    ),
    (
        "queue_red_without_a_weight",
        r#"queue_red_without_a_weight.toml:5: paths.wifi.queue.burst: must be larger: the average could not reach min during the burst (give a larger min or burst)"#,
    ),
    (
        "queue_event_on_a_discipline",
        r#"queue_event_on_a_discipline.toml:12: events[0].set.queue = "10p": needs a drop-tail queue: the limit of a discipline cannot change"#,
    ),
    (
        "queue_key_misspelt",
        r#"queue_key_misspelt.toml:5: paths.wifi.queue.targt: unknown key; did you mean "target"? (allowed: kind, limit, target, interval, ecn, ce_threshold)"#,
    ),
    (
        "queue_kind_unknown",
        r#"queue_kind_unknown.toml:5: paths.wifi.queue.kind = "fqcodel": is not one of "codel", "fq_codel", "pie", "red", "dualpi2", "drr", "round_robin", "prio", "tbf", "police"; did you mean "fq_codel"?"#,
    ),
    (
        "queue_mark_beside_a_discipline",
        r#"queue_mark_beside_a_discipline.toml:6: paths.wifi.mark = "20p": needs a drop-tail queue: a discipline has its own marking keys"#,
    ),
    (
        "queue_prio_of_nobody",
        r#"queue_prio_of_nobody.toml:5: paths.wifi.queue: there is no flow "voice" (there are: bulk)"#,
    ),
    (
        "queue_codel_upside_down",
        r#"queue_codel_upside_down.toml:5: paths.wifi.queue.target = "100ms": must be less than interval, usually a twentieth of it"#,
    ),
    (
        "queue_red_upside_down",
        r#"queue_red_upside_down.toml:5: paths.wifi.queue.max = "20KB": must satisfy min < max <= limit"#,
    ),
    (
        "queue_target_without_unit",
        r#"queue_target_without_unit.toml:5: paths.wifi.queue.target = 5: a time needs a unit, such as "5ms" or "5s""#,
    ),
    (
        "queue_of_nothing",
        r#"queue_of_nothing.toml:5: paths.wifi.queue = "0p": a queue must be a whole number of packets, at least 1p"#,
    ),
    (
        "queue_without_unit",
        r#"queue_without_unit.toml:5: paths.wifi.queue = "53": a queue must be in packets, bytes or time, such as "53p", "53kB" or "53ms""#,
    ),
    (
        "rate_in_bps",
        r#"rate_in_bps.toml:4: paths.wifi.rate = "8Mbps": a rate in "bps" is bytes to tc but bits to most people; write the rate in bits (try "8Mbit")"#,
    ),
    (
        "rate_missing",
        r#"rate_missing.toml:3: paths.wifi.rate: a path needs a rate (try rate = "8Mbit", or "unlimited")"#,
    ),
    (
        "rate_without_blocks",
        r#"rate_without_blocks.toml:12: flows.bulk.rate = "1Mbit": needs blocks (try blocks = "8KB" next to it)"#,
    ),
    (
        "stagger_beyond_the_end",
        r#"stagger_beyond_the_end.toml:13: flows.bulk.stagger = "1s": the last flow would start at 49s, after the end of the run"#,
    ),
    (
        "stop_after_the_end",
        r#"stop_after_the_end.toml:12: flows.bulk.stop = "41s": must not be after the end of the run (duration 40s)"#,
    ),
    (
        "subflows_of_fullmesh",
        r#"subflows_of_fullmesh.toml:12: flows.bulk.subflows = 2: needs path_manager = "ndiffports"; fullmesh opens one over each path"#,
    ),
    (
        "too_many_subflows",
        r#"too_many_subflows.toml:13: flows.bulk.subflows = 9: must be between 1 and 8 (nearest: 8)"#,
    ),
    (
        "two_traffics",
        r#"two_traffics.toml:13: flows.bulk.blocks = "8KB": must be the only traffic of its flow: bulk, bytes or blocks"#,
    ),
    (
        "unknown_congestion",
        r#"unknown_congestion.toml:12: flows.bulk.congestion = "cubik": is not one of "reno", "cubic", "lia", "olia", "balia", "wvegas", "ewtcp", "coupled", "kelly-voice", "xmp", "dctcp", "bbr", "bbr3", "coupled-bbr"; did you mean "cubic"?"#,
    ),
    (
        "unknown_flow_key",
        r#"unknown_flow_key.toml:12: flows.bulk.scheduller: unknown key; did you mean "scheduler"? (allowed: from, to, permutation, direction, transport, version, stack, paths, congestion, coupling_scope, send_queue_rule, scheduler, path_manager, subflows, backup, opportunistic_retransmission, opportunistic_rule, penalisation, penalty_rule, autotuning, sndbuf_shrinks, rcvbuf_by_path, cwnd_capping, rcvbuf, sndbuf, mss, subflow_queues, buffer_memory, reinjection, windows_by_subflow, failed_path_probe, wide_data_acks, add_addr_timeout, blackhole_timeout, small_queues, slow_start, pacing, sack, timestamps, byte_counting, rack, frto, undo_spurious_loss, ecn, abe, restart_after_idle, cwnd_limited_per_round, mtu_probing, delayed_ack, nagle, minshall, min_rto, user_timeout, notsent_lowat, initial_window, ssthresh, checksum, accept_mptcp, accept_subflows, bulk, bytes, blocks, rate, datagram, on, off, deadline, start, stop, count, stagger, baselines)"#,
    ),
    (
        "unknown_host",
        r#"unknown_host.toml:12: flows.bulk.to = "serber": there is no host "serber"; did you mean "server"? (there are: client, server)"#,
    ),
    (
        "unknown_key",
        r#"unknown_key.toml:5: paths.wifi.dealy: unknown key; did you mean "delay"? (allowed: rtt, mtu, forward, backward, rate, trace, trace_start, trace_repeat, delay, loss, gilbert_elliott, duplicate, corrupt, slot, slot_frames, jitter, reorder, queue, mark, path_mtu, icmp, up)"#,
    ),
    (
        "trace_beside_a_rate",
        r#"trace_beside_a_rate.toml:4: paths.wifi.rate = "1Mbit": trace is also given and sets the rate; give only one of them"#,
    ),
    (
        "trace_goes_back",
        r#"trace_goes_back.toml:4: paths.wifi.trace = "traces/back.up": line 3: 7 ms follows 9 ms; times must not decrease"#,
    ),
    (
        "trace_missing",
        r#"trace_missing.toml:4: paths.wifi.trace = "traces/none.up": traces/none.up cannot be read: there is no such file"#,
    ),
    (
        "trace_empty",
        r#"trace_empty.toml:4: paths.wifi.trace = "traces/empty.up": is empty: expected a time in whole milliseconds in each line"#,
    ),
    (
        "trace_of_nothing",
        r#"trace_of_nothing.toml:4: paths.wifi.trace = "traces/nothing.up": has no delivery time after 0 ms: the link would never send"#,
    ),
    (
        "trace_without_columns",
        r#"trace_without_columns.toml:4: paths.wifi.trace = "traces/columns.csv": must begin with the names of its columns: time_s, and rate_mbit, delay_ms or loss_percent; its first line is "time, colour""#,
    ),
    (
        "unknown_scheduler",
        r#"unknown_scheduler.toml:12: flows.bulk.scheduler = "lottery": is not one of "ontime", "minrtt", "maxrtt", "linux", "roundrobin", "redundant", "opportunistic-redundant", "weighted-roundrobin", "priority", "backup", "blest", "ecf", "daps", "otias", "sttf"; docs/extending.md explains how to add one"#,
    ),
    (
        "unknown_table",
        r#"unknown_table.toml:13: path: unknown key; did you mean "paths"? (allowed: name, description, duration, warmup, sample, until_done, include, defaults, paths, links, topology, routing, routes, relays, cells, stations, background, interference, coupling, flows, events, filters, middleboxes, jitter, limits)"#,
    ),
    (
        "unreachable_host",
        r#"unreachable_host.toml:11: flows.bulk: no path or link leads from host "client" to host "server""#,
    ),
    (
        "until_done_without_a_file",
        r#"until_done_without_a_file.toml:2: until_done = true: needs a flow that sends a file (try bytes = "10MB" in a flow)"#,
    ),
    (
        "up_as_string",
        r#"up_as_string.toml:16: events[0].set.up = "no": expected true or false, without quotes"#,
    ),
    ("warmup_too_long", r#"warmup_too_long.toml:2: warmup = "40s": must be less than the duration, 40s"#),
    (
        "wrong_unit",
        r#"wrong_unit.toml:5: paths.wifi.delay = "10msec": a delay must be in one of ns, us, ms, s, min, h, not "msec" (try "10ms")"#,
    ),
    (
        "zero_rate",
        r#"zero_rate.toml:4: paths.wifi.rate = "0Mbit": a rate must be at least 8bit, or "unlimited""#,
    ),
    (
        "middlebox_without_kind",
        r#"middlebox_without_kind.toml:9: middleboxes.home: needs a kind (try kind = "nat")"#,
    ),
    (
        "middlebox_of_no_kind",
        r#"middlebox_of_no_kind.toml:11: middleboxes.home.kind = "natt": is not one of "nat", "rewrite-sequence", "strip-options", "split", "coalesce", "early-ack", "rewrite-payload", "bleach-ecn", "mark-ecn"; did you mean "nat"?"#,
    ),
    (
        "middlebox_without_path",
        r#"middlebox_without_path.toml:9: middleboxes.home: needs a path (try path = "wifi")"#,
    ),
    (
        "middlebox_on_unknown_path",
        r#"middlebox_on_unknown_path.toml:10: middleboxes.home.path = "wify": there is no path "wify"; did you mean "wifi"? (there are: wifi)"#,
    ),
    (
        "middlebox_with_a_dot",
        r#"middlebox_with_a_dot.toml:9: middleboxes.at.home: the name "at.home" must be made of letters, digits, - and _, with at least one letter"#,
    ),
    (
        "middlebox_key_of_another_kind",
        r#"middlebox_key_of_another_kind.toml:12: middleboxes.home.size = "500B": needs kind = split, but the kind is nat"#,
    ),
    (
        "middlebox_nat_one_way",
        r#"middlebox_nat_one_way.toml:12: middleboxes.home.direction = "forward": must not be set for nat: the first end of the path is its inside"#,
    ),
    (
        "middlebox_nat_that_forgets_at_once",
        r#"middlebox_nat_that_forgets_at_once.toml:12: middleboxes.home.timeout = "0s": must be longer than 0s (try "5s")"#,
    ),
    (
        "middlebox_splits_to_nothing",
        r#"middlebox_splits_to_nothing.toml:12: middleboxes.home.size = "0B": must be at least 1B (nearest: 1B)"#,
    ),
    (
        "middlebox_strips_nothing",
        r#"middlebox_strips_nothing.toml:12: middleboxes.home.from = []: must name at least one type of segment (try from = ["syn"])"#,
    ),
    (
        "middlebox_strips_from_unknown_segments",
        r#"middlebox_strips_from_unknown_segments.toml:12: middleboxes.home.from[0] = "synack": is not one of "syn", "syn-ack", "data", "ack"; did you mean "syn-ack"?"#,
    ),
    (
        "middlebox_grows_too_much",
        r#"middlebox_grows_too_much.toml:12: middleboxes.home.grow = "65B": must be between 0B and 64B (nearest: 64B)"#,
    ),
    (
        "event_on_unknown_middlebox",
        r#"event_on_unknown_middlebox.toml:15: events[0].middlebox = "hom": there is no middlebox "hom"; did you mean "home"? (there are: home)"#,
    ),
    (
        "event_middlebox_and_path",
        r#"event_middlebox_and_path.toml:16: events[0].path = "wifi": must not be set in an event of a middlebox (omit path)"#,
    ),
    (
        "event_middlebox_set_up",
        r#"event_middlebox_set_up.toml:13: events[0]: must set only on (try set = { on = false })"#,
    ),
    (
        "event_middlebox_after_the_end",
        r#"event_middlebox_after_the_end.toml:14: events[0].at = "41s": must not be after the end of the run (duration 40s)"#,
    ),
    (
        "event_switches_a_path_on",
        r#"event_switches_a_path_on.toml:16: events[0].set.on = true: needs a middlebox (for a path, try set = { up = true })"#,
    ),
    (
        "topology_of_odd_k",
        r#"topology_of_odd_k.toml:4: topology.k = 5: must be even, between 2 and 40: a switch has k/2 ports up and k/2 down (try 4 or 6)"#,
    ),
    (
        "topology_too_large",
        r#"topology_too_large.toml:4: topology.k = 42: must be at most 40: more would exceed 16384 hosts"#,
    ),
    (
        "topology_of_no_kind",
        r#"topology_of_no_kind.toml:3: topology.kind = "fat-tre": is not one of "fat_tree", "bcube"; did you mean "fat_tree"?"#,
    ),
    ("topology_without_k", r#"topology_without_k.toml:2: topology: needs k (try k = 4)"#),
    (
        "topology_with_ports_of_a_bcube",
        r#"topology_with_ports_of_a_bcube.toml:5: topology.n = 4: needs bcube; a fat_tree has only k"#,
    ),
    (
        "topology_without_a_rate",
        r#"topology_without_a_rate.toml:2: topology.rate: a link needs a rate (try rate = "8Mbit", or "unlimited")"#,
    ),
    (
        "topology_with_a_queue_of_no_kind",
        r#"topology_with_a_queue_of_no_kind.toml:6: topology.hosts.queue.kind = "codle": is not one of "codel", "fq_codel", "pie", "red", "dualpi2", "drr", "round_robin", "prio", "tbf", "police"; did you mean "codel"?"#,
    ),
    (
        "bcube_too_large",
        r#"bcube_too_large.toml:5: topology.k = 4: must give at most 16384 hosts, but n^(k+1) is 32768 (try k = 3)"#,
    ),
    ("bcube_without_ports", r#"bcube_without_ports.toml:2: topology: needs n (try n = 4)"#),
    (
        "permutation_of_no_topology",
        r#"permutation_of_no_topology.toml:6: flows.bulk.permutation = 1: needs a topology (try topology = { kind = "fat_tree", k = 4 })"#,
    ),
    (
        "permutation_from_one_host",
        r#"permutation_from_one_host.toml:8: flows.bulk.from = "h1": must not be set for a permutation, which starts a flow from each host"#,
    ),
    (
        "permutation_with_a_bad_mss",
        r#"permutation_with_a_bad_mss.toml:8: flows.bulk.mss = 60: must be between 88 and 65495 (nearest: 88)"#,
    ),
    (
        "routing_of_no_kind",
        r#"routing_of_no_kind.toml:2: routing = "epmc": is not one of "first", "ecmp", "spray"; did you mean "ecmp"?"#,
    ),
    (
        "relay_of_no_name",
        r#"relay_of_no_name.toml:2: relays[0] = "servr": there is no host "servr"; did you mean "server"? (there are: client, server)"#,
    ),
    (
        "route_through_a_missing_link",
        r#"route_through_a_missing_link.toml:29: routes[0].links[1] = "r-q": there is no path or link "r-q"; did you mean "r-s"? (there are: a-r, r-s, s-b, r-b, r-c, c-s)"#,
    ),
    (
        "route_that_does_not_connect",
        r#"route_that_does_not_connect.toml:29: routes[0].links[1] = "s-b": does not touch "r", the node that the route has reached (links there: a-r, r-s, r-b, r-c)"#,
    ),
    (
        "route_that_ends_elsewhere",
        r#"route_that_ends_elsewhere.toml:29: routes[0].links[1] = "r-s": is the last link, but leads to "s" instead of "b""#,
    ),
    (
        "route_that_goes_on",
        r#"route_that_goes_on.toml:29: routes[0].links[1] = "r-b": already leads to "b"; later links are not allowed"#,
    ),
    ("route_in_a_circle", r#"route_in_a_circle.toml:29: routes[0].links[2] = "r-s": leads back to "r""#),
    (
        "route_through_a_host",
        r#"route_through_a_host.toml:29: routes[0].links[1] = "r-c": leads to the host "c", which does not forward frames (add it to relays)"#,
    ),
    (
        "route_without_links",
        r#"route_without_links.toml:26: routes[0].links: needs the links in the order of the route (try links = ["a-r", "r-b"])"#,
    ),
    (
        "route_of_another_flow",
        r#"route_of_another_flow.toml:29: routes[0].flows[0] = "other": does not go from "a" to "b" between "a-r" and "r-b""#,
    ),
    (
        "route_of_no_flow",
        r#"route_of_no_flow.toml:26: routes[0]: no flow goes from "b" to "c" between "r-b" and "r-c""#,
    ),
    (
        "route_from_nowhere",
        r#"route_from_nowhere.toml:27: routes[0].from = "aa": there is no host "aa"; did you mean "a"? (there are: a, b, c)"#,
    ),
    (
        "route_twice",
        r#"route_twice.toml:30: routes[1]: another route already covers these frames of flow "bulk""#,
    ),
    (
        "duplicate_beyond_all",
        r#"duplicate_beyond_all.toml:5: paths.wifi.duplicate = "101%": a probability must be between 0% and 100%"#,
    ),
    (
        "corrupt_without_a_unit",
        r#"corrupt_without_a_unit.toml:5: paths.wifi.corrupt = 0.01: a probability must be in percent (try "1%", or "0.01%" if it is in percent)"#,
    ),
    (
        "slot_of_nothing",
        r#"slot_of_nothing.toml:5: paths.wifi.slot = "0s": must be longer than 0s (omit it to disable slots)"#,
    ),
    (
        "slot_without_a_time",
        r#"slot_without_a_time.toml:5: paths.wifi.slot_frames = 8: needs slot: without it, the last frames would wait for ever (try slot = "5ms" next to it)"#,
    ),
    (
        "preset_beside_a_value",
        r#"preset_beside_a_value.toml:5: paths.wifi.gilbert_elliott.p = "1%": the preset "in_flight_long" is also given; give only one of them"#,
    ),
    (
        "preset_of_no_name",
        r#"preset_of_no_name.toml:5: paths.wifi.gilbert_elliott.preset = "in_flight": is not one of "in_flight_long", "in_flight_short", "backbone", "inria_maryland", "columbia_gmd", "columbia_umass", "ucsc_umass""#,
    ),
    (
        "pauses_of_a_stream",
        r#"pauses_of_a_stream.toml:6: flows.bulk.on = "1s": needs udp (try transport = "udp")"#,
    ),
    (
        "pauses_without_a_rate",
        r#"pauses_without_a_rate.toml:7: flows.bulk.on = "1s": needs a rate (try rate = "1Mbit" next to it)"#,
    ),
    (
        "deadline_of_a_stream_without_end",
        r#"deadline_of_a_stream_without_end.toml:7: flows.bulk.deadline = "100ms": needs blocks or bytes (try blocks = "8KB" or bytes = "15MB" next to it)"#,
    ),
    (
        "deadline_of_nothing",
        r#"deadline_of_nothing.toml:9: flows.calls.deadline = "0s": must be longer than 0s"#,
    ),
    (
        "pauses_and_nothing_else",
        r#"pauses_and_nothing_else.toml:8: flows.bulk.off = "1s": needs on (try on = "1s" next to it)"#,
    ),
];

/// The message of a broken scenario, with file names as seen from `broken/`.
fn message(name: &str) -> String {
    match Scenario::load(format!("tests/broken/{name}.toml")) {
        Ok(_) => "no fault found".to_owned(),
        Err(error) => error.to_string().replace("tests/broken/", ""),
    }
}

#[test]
fn each_broken_scenario_gives_its_one_message() {
    for (name, expected) in FAULTS {
        assert_eq!(message(name), *expected, "{name}");
    }
}

#[test]
fn each_message_names_a_file_and_fits_one_line() {
    for (name, _) in FAULTS {
        let message = message(name);
        assert!(message.contains(".toml") && !message.contains('\n'), "{message}");
    }
}

#[test]
fn every_broken_scenario_is_in_the_table() {
    for entry in std::fs::read_dir("tests/broken").expect("the fixtures are there") {
        let path = entry.expect("the fixtures are readable").path();
        if path.is_dir() {
            continue;
        }
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        assert!(FAULTS.iter().any(|(known, _)| *known == name), "{name} has no expected message");
    }
}

/// Beginnings of messages: a rule (`must be`), a missing or unknown name, or a true statement about the value.
const BEGINNINGS: &[&str] = &[
    "must ",
    "expected ",
    "needs ",
    "already leads to ",
    "another route already covers ",
    "a path has this name",
    "a path or link has this name",
    "unknown key",
    "there is no ",
    "is not one of ",
    "is not a path of this flow",
    "does not ",
    "leads ",
    "is the last link, but leads ",
    "is empty: expected ",
    "has no delivery time ",
    "cannot read ",
    "traces/none.up cannot be read",
    "not_utf8.toml is not UTF-8",
    "including ",
    "this is not TOML",
    "no flow ",
    "no path or link leads ",
    "a scenario needs ",
    "a path needs ",
    "a link needs ",
    "the last flow would start ",
    "line ",
];

/// The problem of a message, without place, key and value.
fn problem(message: &str) -> &str {
    let (_, rest) = message.split_once(": ").unwrap_or_default();
    let key = rest.split_once(": ").map_or("", |(key, _)| key);
    let is_key = key.split(" = ").next().is_some_and(|key| {
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "._[]-".contains(c))
    });
    if is_key { &rest[key.len() + 2..] } else { rest }
}

/// Whether a message states the rule, rather than claiming that the bad value follows it.
fn is_a_rule(problem: &str) -> bool {
    // "a delay must not be negative": noun, then rule.
    let noun = problem.strip_prefix("a ").and_then(|rest| rest.split_once(' ')).map_or("", |(_, rest)| rest);
    let given = problem.contains(" is also given");
    let named = problem.starts_with("the name ") && problem.contains(" must ");
    let bps = problem.starts_with("a rate in \"bps\" is bytes to tc");
    given
        || named
        || bps
        || [problem, noun].iter().any(|text| BEGINNINGS.iter().any(|word| text.starts_with(word)))
}

#[test]
fn no_message_states_a_rule_as_a_fact() {
    for (name, _) in FAULTS {
        let message = message(name);
        assert!(is_a_rule(problem(&message)), "{message}\n  {:?}", problem(&message));
        assert!(!problem(&message).contains("beside"), "{message}");
    }
    for fact in [
        "lies between 88 and 65495",
        "is longer than 0s",
        "is an array of names",
        "a duration is longer than 0s",
    ] {
        assert!(!is_a_rule(fact), "{fact}");
    }
}

/// Also covers messages in the source that no scenario here triggers.
#[test]
fn no_message_of_the_code_states_a_rule_as_a_fact() {
    const RULES: [&str; 13] = [
        "lies between ",
        "is at most ",
        "is at least ",
        "is longer than ",
        "is 1B or more",
        "is true or false",
        "is an array",
        "is a table",
        "is a string",
        "is a whole number",
        "holds more than",
        "is wanted",
        "cannot be negative",
    ];
    let mut folders = vec![std::path::PathBuf::from("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sources are there") {
            let path = entry.expect("the sources are readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source is text");
            let strings =
                text.lines().filter(|line| !line.trim_start().starts_with("//") && line.contains('"'));
            for line in strings {
                let rule = RULES.iter().find(|rule| line.contains(&format!("\"{rule}")));
                assert!(rule.is_none(), "{}: {line}", path.display());
            }
        }
    }
}
