//! Features of a scenario on the kernel: supported ones, closest settings, and refusals.

use mptcp_emulator::EmulatorError;
use mptcp_emulator::kernel::Ability;
use mptcp_lab::scenario::Draft;

use crate::scenes;

const PATHS: &str = "duration = \"5s\"\n[paths.wifi]\nrate = \"8Mbit\"\n[paths.lte]\nrate = \"2Mbit\"\n";
/// Keys with which the kernel fully supports an MPTCP flow.
const PLAIN: &str = "congestion = \"reno\"\nopportunistic_retransmission = false\n";

fn ability(flows: &str) -> Result<Ability, EmulatorError> {
    ability_with(flows, &["reno", "cubic", "bbr"])
}

/// The settings on a kernel with these controllers.
fn ability_with(flows: &str, controllers: &[&str]) -> Result<Ability, EmulatorError> {
    let draft = Draft::parse(&format!("{PATHS}{flows}"), "test");
    let scenario = draft.and_then(|draft| draft.finish()).unwrap_or_else(|error| panic!("{error}"));
    let known: Vec<String> = controllers.iter().map(|&name| name.to_owned()).collect();
    Ability::of(&scenario, &known, "mptcplab_")
}

fn lacks(flows: &str) -> Vec<String> {
    let ability = ability(flows).unwrap_or_else(|error| panic!("{error}"));
    ability.lacks.iter().map(|lack| format!("{}: {} -> {}", lack.flow, lack.what, lack.closest)).collect()
}

#[test]
fn what_the_kernel_lacks_has_something_near() {
    assert_eq!(
        lacks(&format!("[flows.a]\n{PLAIN}scheduler = \"minrtt\"")),
        ["a: scheduler minrtt -> default"]
    );
    let all = lacks(
        "[flows.a]\nversion = \"v0\"\ncongestion = \"lia\"\npenalisation = true\ncwnd_capping = true\n\
         send_queue_rule = \"linked\"",
    );
    assert_eq!(
        all,
        [
            "a: congestion lia -> reno",
            "a: version v0 -> v1",
            "a: scheduler ontime -> default",
            "a: opportunistic_retransmission (M1) -> none",
            "a: penalisation (M2) -> none",
            "a: cwnd_capping (M4) -> none",
            "a: send_queue_rule linked -> off",
        ]
    );
    assert_eq!(lacks("[flows.a]\ntransport = \"tcp\"\ncongestion = \"cubic\"\npaths = [\"lte\"]"), [""; 0]);
}

#[test]
fn a_controller_of_ours_that_is_loaded_is_taken_by_its_name_there() {
    let flow = "[flows.a]\ncongestion = \"lia\"\nopportunistic_retransmission = false\n";
    let ability = ability_with(flow, &["reno", "mptcplab_lia"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(ability.options[0].congestion, "mptcplab_lia");
    assert!(ability.lacks.iter().all(|lack| !lack.what.contains("congestion")), "{:?}", ability.lacks);
}

#[test]
fn sockets_get_what_flows_ask_for() {
    let ability = ability(&format!(
        "[flows.a]\n{PLAIN}rcvbuf = \"100KB\"\nsndbuf = \"200KB\"\nmss = 1000\n\
         [flows.b]\ntransport = \"tcp\"\ncongestion = \"bbr\"\npaths = [\"wifi\"]\nautotuning = true"
    ));
    let ability = ability.unwrap_or_else(|error| panic!("{error}"));
    let [a, b] = &ability.options[..] else { panic!("{ability:?}") };
    assert_eq!((a.multipath, a.congestion.as_str(), a.segment), (true, "reno", Some(1000)));
    assert_eq!((a.receive_buffer, a.send_buffer), (Some(102_400), Some(204_800)));
    assert_eq!((b.multipath, b.congestion.as_str(), b.receive_buffer), (false, "bbr", None));
    let set = |key: &str| ability.settings.iter().filter(|set| set.key == key).count();
    assert_eq!(
        (set("net.ipv4.tcp_sack"), set("net.mptcp.checksum_enabled"), set("net.ipv4.tcp_rmem")),
        (2, 2, 2)
    );
}

#[test]
fn what_nothing_is_near_to_is_refused() {
    for (flows, says) in [
        ("[flows.a]\nblocks = \"8KB\"\nrate = \"1Mbit\"", "flow \"a\" sends blocks"),
        (
            "[flows.a]\ntransport = \"udp\"\nrate = \"1Mbit\"\npaths = [\"wifi\"]",
            "flow \"a\" sends datagrams",
        ),
        ("[flows.a]\npath_manager = \"ndiffports\"\npaths = [\"wifi\"]", "several subflows on one path"),
        ("[flows.a]\n[flows.b]\npaths = [\"wifi\"]", "flows \"a\" and \"b\" use different paths"),
        ("[flows.a]\n[flows.b]\nbackup = [\"lte\"]", "flows \"a\" and \"b\" have different backups"),
        ("[flows.a]\n[flows.b]\nsack = false", "flow \"b\" needs a different net.ipv4.tcp_sack"),
    ] {
        let said = ability(flows).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn limits_of_small_buffers_are_in_order() {
    let limits = |window: &str| {
        let flow =
            format!("[flows.a]\n{PLAIN}autotuning = true\nrcvbuf = \"{window}\"\nsndbuf = \"{window}\"");
        let ability = ability(&flow).unwrap_or_else(|error| panic!("{error}"));
        let of = |key: &str| ability.settings.iter().find(|set| set.key == key).map(|set| set.value.clone());
        [of("net.ipv4.tcp_rmem"), of("net.ipv4.tcp_wmem")].map(Option::unwrap_or_default)
    };
    assert_eq!(limits("10KB"), ["4096 20480 20480", "4096 16384 20480"]);
    assert_eq!(limits("1KB"), ["2048 2048 2048", "2048 2048 2048"]);
    assert_eq!(limits("1000KB"), ["4096 131072 2048000", "4096 16384 2048000"]);
}

#[test]
fn nine_paths_have_no_endpoints() {
    let paths: String = (0..9).map(|path| format!("[paths.p{path}]\nrate = \"1Mbit\"\n")).collect();
    let draft = Draft::parse(&format!("duration = \"5s\"\n{paths}[flows.a]\n{PLAIN}"), "test");
    let scenario = draft.and_then(|draft| draft.finish()).unwrap_or_else(|error| panic!("{error}"));
    let said =
        Ability::of(&scenario, &[], "mptcplab_").err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("flow \"a\" has 9 paths, but the kernel supports at most 8 endpoints"), "{said}");
}

#[test]
fn samples_are_no_closer_than_looks() {
    let draft = Draft::parse(&format!("sample = \"20ms\"\n{PATHS}[flows.a]\n{PLAIN}"), "test");
    let scenario = draft.and_then(|draft| draft.finish()).unwrap_or_else(|error| panic!("{error}"));
    let said =
        Ability::of(&scenario, &[], "mptcplab_").err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("with the kernel back end"), "{said}");
}

#[test]
fn only_paths_of_flows_are_endpoints() {
    let joins = |flows: &str| {
        let made = scenes::emulate(&format!("{}{flows}", &PATHS[PATHS.find('[').unwrap_or(0)..]));
        let emulation = made.unwrap_or_else(|error| panic!("{error}"));
        emulation.plan().hosts[0].devices.iter().map(|device| device.joins).collect::<Vec<_>>()
    };
    assert_eq!(joins("[flows.a]\npaths = [\"lte\"]"), [false, true]);
    assert_eq!(joins("[flows.a]\ntransport = \"tcp\"\npaths = [\"lte\"]"), [true, true]);
}
