//! Scenario files with the kinds of this crate: meaning and errors.

use std::sync::Arc;

use mptcp_lab::measurements::Measurements;
use mptcp_lab::scenario::{Draft, Scenario};
use mptcp_lab::world::World;
use mptcp_lab::{Registry, RegistryError, registered};

fn registry() -> Arc<Registry> {
    Arc::new(extension::registry().expect("no name is taken"))
}

pub(crate) fn finish(text: &str) -> Result<Scenario, String> {
    let draft = Draft::parse_with(text, "test.toml", &registry()).map_err(|error| error.to_string())?;
    draft.finish().map_err(|error| error.to_string())
}

fn run(text: &str) -> Measurements {
    let scenario = finish(text).unwrap_or_else(|error| panic!("{error}"));
    World::new(&scenario, 1).expect("a network").run().expect("it ends")
}

const PATH: &str = "duration = \"20s\"\n[paths.wifi]\nrate = \"8Mbit\"\ndelay = \"40ms\"\n";

#[test]
fn a_scenario_that_names_everything_survives_being_written() {
    let scenario = Draft::load_with(super::scenario(), &registry()).and_then(|draft| draft.finish());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(finish(&scenario.to_toml()).as_ref(), Ok(&scenario));
    assert_eq!(
        registered(&scenario),
        [
            "loss model of wifi forward: every-nth (least = \"1kB\", n = 200)",
            "loss model of wifi backward: every-nth (least = \"1kB\", n = 200)",
            "queue of lte forward: head-drop (packets = 200)",
            "queue of lte backward: head-drop (packets = 200)",
            "middlebox shaper on lte: clamp-window (window = \"32KB\")",
            "application of pages: think (pages = 8, page = \"1MB\", pause = \"500ms\")",
            "scheduler of pages: least-filled (reserve = 0.25)",
            "scheduler of bulk: least-filled",
        ]
    );
}

#[test]
fn every_nth_frame_is_lost() {
    let text =
        format!("{PATH}loss_model = {{ kind = \"every-nth\", n = 50, least = \"1000B\" }}\n[flows.f]\n");
    let measured = run(&text);
    let forward = &measured.links[0];
    let wanted = measured.data_packets / 49;
    assert!(forward.random_losses.abs_diff(wanted) <= 2, "{} of {wanted}", forward.random_losses);
    assert_eq!(measured.links[1].random_losses, 0, "acknowledgements are short");
}

#[test]
fn a_queue_drops_at_its_head() {
    let text =
        format!("{PATH}queue = {{ kind = \"head-drop\", packets = 20 }}\n[flows.f]\ntransport = \"tcp\"\n");
    let measured = run(&text);
    assert!(measured.links[0].queue_drops > 0 && measured.flows[0].intact);
    // The frame in service, in addition to the twenty.
    assert!((19 * 1514..=21 * 1514).contains(&measured.links[0].longest_queue), "{:?}", measured.links[0]);
}

#[test]
fn a_clamped_window_holds_tcp_back() {
    let plain = format!("{PATH}[flows.f]\ntransport = \"tcp\"\n");
    let boxed = "[middleboxes.shaper]\nkind = \"clamp-window\"\npath = \"wifi\"\nparameters = { window = \"32KB\" }\n";
    let (free, held) = (run(&plain).flows[0].goodput, run(&format!("{plain}{boxed}")).flows[0].goodput);
    // A window of 32 KB in each round trip of a little above 80 ms.
    let most = 32.0 * 1024.0 * 8.0 / 0.08;
    assert!(free > 7e6 && held < most && held > most * 0.8, "{free} {held}");
    // Events switch it as any other box.
    let event = "[[events]]\nat = \"1s\"\nmiddlebox = \"shaper\"\nset = { on = false }\n";
    assert!(run(&format!("{plain}{boxed}{event}")).flows[0].goodput > 6e6);
}

#[test]
fn pages_are_timed_and_the_flow_ends_by_itself() {
    let text = format!("{PATH}[flows.f]\napplication = {{ kind = \"think\", pages = 5, page = \"50KB\" }}\n");
    let flow = &run(&text).flows[0];
    assert_eq!((flow.blocks.len(), flow.bytes_received_total, flow.intact), (5, 5 * 50 * 1024, true));
    assert_eq!(flow.closed.as_deref(), Some("Finished"));
    assert!(flow.completion.is_some_and(|after| after > 4.0 && after < 10.0), "{:?}", flow.completion);
    let first = flow.blocks[0].latency.as_secs_f64();
    assert!(first > 0.08 && first < 0.5, "{first}");
}

#[test]
fn the_same_seed_gives_the_same() {
    let text = std::fs::read_to_string(super::scenario()).expect("it is there");
    assert_eq!(format!("{:?}", run(&text)), format!("{:?}", run(&text)));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let model = |keys: &str| format!("{PATH}loss_model = {{ {keys} }}\n[flows.f]\n");
    let boxed = |keys: &str| format!("{PATH}[flows.f]\n[middleboxes.m]\npath = \"wifi\"\n{keys}\n");
    let flow = |keys: &str| format!("{PATH}[flows.f]\n{keys}\n");
    for (text, wanted) in [
        (
            model("kind = \"evry-nth\""),
            r#"test.toml:5: paths.wifi.loss_model.kind = "evry-nth": is not one of "every-nth"; did you mean "every-nth"?"#,
        ),
        (
            model("kind = \"every-nth\", n = 1"),
            "test.toml:5: paths.wifi.loss_model.n = 1: must be between 2 and 1000000 (nearest: 2)",
        ),
        (
            model("kind = \"every-nth\", leest = \"1kB\""),
            "test.toml:5: paths.wifi.loss_model.leest: unknown key; did you mean \"least\"? (allowed: kind, n, least)",
        ),
        (
            model("kind = \"every-nth\", least = 9"),
            "test.toml:5: paths.wifi.loss_model.least = 9: a size needs a unit, such as \"9B\" or \"9kB\"",
        ),
        (model("n = 5"), "test.toml:5: paths.wifi.loss_model: needs a kind (try kind = \"every-nth\")"),
        (
            model("kind = \"every-nth\" }\ngilbert_elliott = { p = \"1%\", r = \"9%\""),
            "test.toml:5: paths.wifi.loss_model: gilbert_elliott is also given; give only one of them",
        ),
        (
            boxed("kind = \"clamp-windw\""),
            "test.toml:8: middleboxes.m.kind = \"clamp-windw\": is not one of \"nat\", \"rewrite-sequence\", \
             \"strip-options\", \"split\", \"coalesce\", \"early-ack\", \"rewrite-payload\", \"bleach-ecn\", \
             \"mark-ecn\", \"clamp-window\"; did you mean \"clamp-window\"?",
        ),
        (
            boxed("kind = \"clamp-window\""),
            "test.toml:6: middleboxes.m.parameters.window: must be set (try window = \"200KB\")",
        ),
        (
            boxed("kind = \"clamp-window\"\nparameters = { window = \"0B\" }"),
            "test.toml:9: middleboxes.m.parameters.window = \"0B\": must be at least 1B (nearest: 1B)",
        ),
        (
            boxed("kind = \"clamp-window\"\nsize = \"5B\""),
            "test.toml:9: middleboxes.m.size = \"5B\": needs kind = split, but the kind is clamp-window",
        ),
        (
            boxed("kind = \"split\"\nparameters = { window = \"1B\" }"),
            "test.toml:9: middleboxes.m.parameters: needs kind = clamp-window, but the kind is split",
        ),
        (
            flow("scheduler = \"least-filed\""),
            "test.toml:6: flows.f.scheduler = \"least-filed\": is not one of \"ontime\", \"minrtt\", \"maxrtt\", \"linux\", \"roundrobin\", \"redundant\", \"opportunistic-redundant\", \"weighted-roundrobin\", \"priority\", \"backup\", \"blest\", \"ecf\", \"daps\", \"otias\", \"sttf\", \"least-filled\"; did you mean \"least-filled\"?",
        ),
        (
            flow("scheduler = { kind = \"least-filled\", reserve = 2 }"),
            "test.toml:6: flows.f.scheduler.reserve = 2: expected a number from 0 to 0.9, not 2",
        ),
        (
            flow("application = { kind = \"think\", pages = \"5\" }"),
            "test.toml:6: flows.f.application.pages = \"5\": expected a whole number, 0 or more, without quotes",
        ),
        (
            flow("application = { kind = \"think\" }\nbytes = \"1MB\""),
            "test.toml:6: flows.f.application: must be the only traffic of its flow; leave out bulk, bytes, blocks and rate",
        ),
        (
            flow("application = { kind = \"think\" }\ntransport = \"udp\""),
            "test.toml:6: flows.f.application: must not be set for udp (use datagram and rate)",
        ),
    ] {
        assert_eq!(finish(&text).err().as_deref(), Some(wanted), "{text}");
    }
}

#[test]
fn without_the_registry_nothing_of_it_is_known() {
    let text = std::fs::read_to_string(super::scenario()).expect("it is there");
    let error = Scenario::parse(&text, "test.toml").expect_err("it names strangers").to_string();
    assert!(error.starts_with("test.toml:7: paths.wifi.loss_model: unknown key (allowed"), "{error}");
}

#[test]
fn schema_and_reference_know_the_names() {
    let registry = registry();
    let page = registry.reference_page();
    for line in [
        "## Middleboxes of this build",
        "| `\"clamp-window\"` | Lets no receive window",
        "| `\"every-nth\"` | Loses every `n`th frame",
        "| `\"think\"` | Sends `pages` pages",
        "| `loss_model` | table |",
        "| `application` | table |",
        "| `parameters` | table |",
    ] {
        assert!(page.contains(line), "{line} is not in\n{page}");
    }
    let kinds = "/properties/flows/additionalProperties/properties/application/properties/kind/oneOf/0/const";
    assert_eq!(registry.json_schema().pointer(kinds), Some(&"think".into()));
    assert!(Registry::new().json_schema().pointer(kinds).is_none());
}

#[test]
fn a_name_is_given_once() {
    fn read(_: &mut mptcp_lab::Parameters<'_>) -> Result<fn() -> Never, mptcp_lab::ScenarioError> {
        Ok(|| Never)
    }
    let again = extension::registry().and_then(|registry| registry.loss("every-nth", "", read));
    let taken = RegistryError::Taken { what: "loss model", name: "every-nth".to_owned() };
    assert_eq!(again.err(), Some(taken));
    let capital = Registry::new().loss("Every", "", read).err().map(|error| error.to_string());
    assert!(capital.is_some_and(|said| said.contains("lower-case letters")));
}

#[derive(Debug)]
struct Never;

impl mptcp_lab::netsim::LossModel for Never {
    fn takes(&mut self, _at: mptcp_lab::Instant, _bytes: u32, _random: &mut mptcp_lab::Rng) -> bool {
        false
    }
}
