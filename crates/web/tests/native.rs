//! Changes by a person: their text, and their effect, which equals that of a run of the text from the start.

use mptcplab_web::action::Action;
use mptcplab_web::run::Run;

const TEXT: &str = r#"
# Two paths of a laptop.
duration = "8s"

[paths.wifi] # at home
rate = "8Mbit"
rtt = "20ms"
[paths.mobile]
rate = "4Mbit"
rtt = "60ms"
[flows.both]
paths = ["wifi", "mobile"]
[middleboxes.box]
kind = "strip-options"
path = "mobile"
on = false
"#;

fn action(json: &str) -> Action {
    serde_json::from_str(json).expect("a change")
}

fn samples(run: &Run) -> (Vec<f64>, Vec<u64>) {
    let samples = run.world().samples();
    (samples.time.clone(), samples.value.iter().map(|value| value.to_bits()).collect())
}

/// Every change, and whether the run continues with it (or starts again).
const CHANGES: [(&str, bool); 10] = [
    (r#"{"kind":"link","link":"wifi","set":{"up":false},"how":"blackhole"}"#, true),
    (r#"{"kind":"link","link":"wifi","set":{"up":true}}"#, true),
    (
        r#"{"kind":"link","link":"mobile","direction":"backward","set":{"rate":2500000,"delay":0.0125,"loss":0.015,"queueFrames":20}}"#,
        true,
    ),
    (r#"{"kind":"switch","middlebox":"box","on":true}"#, true),
    (r#"{"kind":"addPath","name":"cable","rate":2e6,"rtt":0.01,"loss":0.001,"queueFrames":50}"#, false),
    (r#"{"kind":"addFlow","name":"rival","transport":"tcp","paths":["wifi"]}"#, false),
    (r#"{"kind":"addMiddlebox","name":"nat","box":"nat","link":"wifi"}"#, false),
    (r#"{"kind":"policy","flow":"both","scheduler":"roundrobin","congestion":"olia"}"#, true),
    (r#"{"kind":"policy","flow":"both","congestion":"bbr","rcvbuf":90000,"m1":false,"m2":false}"#, false),
    (r#"{"kind":"stopFlow","flow":"rival"}"#, false),
];

#[test]
fn changes_while_the_run_goes_on_equal_a_run_of_the_text() {
    let mut run = Run::load(TEXT, 3).expect("a scenario");
    let mut now = 0.5;
    for (change, goes_on) in CHANGES {
        run.advance(now).expect("it runs");
        let continues =
            run.act(&action(change), 0.0).unwrap_or_else(|problem| panic!("{change}: {problem:?}"));
        assert_eq!(continues, goes_on, "{change}");
        now += 0.5;
    }
    run.advance(f64::INFINITY).expect("it ends");
    assert!(run.text().starts_with("\n# Two paths of a laptop."), "{}", run.text());
    assert!(run.text().contains("[paths.wifi] # at home"));
    let mut again = Run::load(run.text(), 3).expect("the text is a scenario");
    again.advance(f64::INFINITY).expect("it ends");
    assert_eq!(samples(&again), samples(&run));
}

#[test]
fn before_the_start_changes_replace_values() {
    let mut run = Run::load(TEXT, 3).expect("a scenario");
    for (change, _) in CHANGES {
        run.act(&action(change), 0.0).unwrap_or_else(|problem| panic!("{change}: {problem:?}"));
    }
    assert!(!run.text().contains("[[events]]"), "{}", run.text());
    let mobile = &run.scenario().links[1];
    assert_eq!(mobile.backward.rate, Some(2_500_000));
    assert_eq!(mobile.backward.delay.as_secs_f64(), 0.0125);
    assert_eq!(mobile.forward.rate, Some(4_000_000));
    assert!(run.scenario().flows[0].paths.contains(&"cable".to_owned()));
    assert!(run.scenario().middleboxes.iter().all(|one| one.on));
}

#[test]
fn errors_have_lines_and_change_nothing() {
    let mut run = Run::load(TEXT, 3).expect("a scenario");
    run.advance(1.0).expect("it runs");
    let before = run.text().to_owned();
    let problem = run.edit(&TEXT.replace("8Mbit", "8Mbyte")).expect_err("no unit");
    assert_eq!(problem.line, Some(6), "{problem:?}");
    assert!(problem.message.starts_with("paths.wifi.rate"), "{problem:?}");
    for wrong in [
        r#"{"kind":"link","link":"dsl","set":{"up":false}}"#,
        r#"{"kind":"addFlow","name":"both","transport":"tcp","paths":[]}"#,
        r#"{"kind":"addMiddlebox","name":"x","box":"toaster","link":"wifi"}"#,
        r#"{"kind":"switch","middlebox":"missing","on":true}"#,
        r#"{"kind":"link","link":"wifi","set":{}}"#,
    ] {
        let problem = run.act(&action(wrong), 0.0).expect_err(wrong);
        assert!(!problem.message.is_empty(), "{wrong}");
    }
    assert_eq!(run.text(), before);
    assert_eq!(run.now().as_secs_f64(), 1.0);
}

#[test]
fn ghosts_are_plain_tcp_over_each_path() {
    let run = Run::load(TEXT, 3).expect("a scenario");
    let ghosts = run.ghosts();
    assert_eq!(ghosts.iter().map(|ghost| ghost.path.as_str()).collect::<Vec<_>>(), ["wifi", "mobile"]);
    let mut ghost = ghosts[0].run.start().expect("it starts");
    ghost.advance(f64::INFINITY).expect("it ends");
    let received = ghost.world().progress(ghost.now(), 0).expect("a flow").received;
    assert!(received > 4_000_000, "{received}: more than half of 8 Mb/s in 8 s");
}

#[test]
fn a_step_processes_one_event() {
    let mut run = Run::load(TEXT, 3).expect("a scenario");
    let mut times = Vec::new();
    for _ in 0..50 {
        assert!(run.step().expect("it runs"));
        times.push(run.now());
    }
    assert!(times.is_sorted() && times.last() > times.first());
    run.advance(f64::INFINITY).expect("it ends");
    assert!(!run.step().expect("it has ended"));
}

#[test]
fn samples_are_handed_out_once_and_the_table_has_all() {
    let mut run = Run::load(TEXT, 3).expect("a scenario");
    let mut rows = 0;
    for second in 1..=4 {
        run.advance(f64::from(second)).expect("it runs");
        rows += run.world_mut().take_samples().time.len();
        assert!(run.world().samples().time.is_empty());
    }
    let csv = run.csv().expect("it runs");
    assert_eq!(csv.lines().count(), 1 + rows);
    assert!(csv.lines().last().is_some_and(|line| line.contains(",4,")), "{csv}");
}

#[test]
fn a_run_that_needs_too_much_memory_for_a_browser_is_refused() {
    let text = "duration = \"1s\"\n[paths.a]\nrate = \"1Gbit\"\ndelay = \"100s\"\nqueue = \"unlimited\"\n[flows.f]\n\
                transport = \"udp\"\ndatagram = \"1B\"\nrate = \"1Gbit\"\n[limits]\nmemory = \"100GB\"\n";
    let problem = Run::load(text, 1).expect_err("too large");
    assert!(problem.message.contains("a browser has"), "{problem:?}");
}

#[test]
fn comparisons_of_many_flows_cost_no_more_than_those_that_are_made() {
    let text = TEXT.replace("[flows.both]\n", "[flows.both]\ncount = 500\n");
    let run = Run::load(&text, 1).expect("a scenario");
    assert_eq!(run.ghosts().len(), 8);
}

#[test]
fn a_change_during_a_replay_takes_effect_at_the_time_that_a_person_saw() {
    let mut run = Run::load(TEXT, 3).expect("a scenario");
    run.advance(0.5).expect("it runs");
    let continues = run.act(&action(CHANGES[0].0), 2.0).expect("a change");
    assert!(continues && run.text().contains("at = \"2001ms\""), "{}", run.text());
}
