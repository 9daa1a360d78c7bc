//! Published loss presets match their sources, in the model and frame by frame.

use mptcp_clock::{Duration, Instant};
use mptcp_lab::scenario::Scenario;
use netsim::{Codepoint, Event, Frame, GilbertElliott, Loss, Network, Parameters, Rate};

fn preset(name: &str) -> GilbertElliott {
    let text = format!(
        "duration = \"5s\"\n[paths.first]\nrate = \"10Mbit\"\ngilbert_elliott = {{ preset = \"{name}\" }}\n[flows.bulk]\n"
    );
    let scenario = Scenario::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Scenario::parse(&scenario.to_toml(), "again.toml").expect("valid"), scenario, "{name}");
    let Loss::GilbertElliott(model) = scenario.links[0].forward.loss else { panic!("a model") };
    model
}

/// Loss rate, loss rate after a lost frame, and mean burst length of a link.
fn lost(model: GilbertElliott, frames: usize) -> [f64; 3] {
    let line =
        Parameters { rate: Rate::new(8_000_000), loss: Loss::GilbertElliott(model), ..Parameters::default() };
    let mut network: Network<usize> = Network::new(1);
    let (client, server) = (network.add_host(), network.add_host());
    let link = network.add_link("wire", client, server, line.clone(), line).expect("a link");
    let destination = network.add_address(server, None).expect("an address");
    let mut missing = vec![true; frames];
    for payload in 0..frames {
        let at = Instant::ZERO + Duration::from_millis(payload as u64);
        let frame = Frame { bytes: 100, destination, label: 0, ecn: Codepoint::NotEct, payload };
        network.send(at, link.forward(), frame);
        while let Some((_, event)) = network.next_until(at + Duration::from_micros(900)) {
            if let Event::Arrived { frame, .. } = event {
                missing[frame.payload] = false;
            }
        }
    }
    let all = missing.iter().filter(|lost| **lost).count() as f64;
    let again = missing.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
    [all / frames as f64, again / all, all / (all - again)]
}

/// The values of Bolot 1993, table 3, and Jiang and Schulzrinne 2000, table 1.
#[test]
fn measured_paths_lose_and_lose_again_as_printed() {
    for (name, share, again) in [
        ("inria_maryland", 0.23, 0.60),
        ("columbia_gmd", 0.0047, 0.149),
        ("columbia_umass", 0.09, 0.33),
        ("ucsc_umass", 0.0282, 0.441),
    ] {
        let model = preset(name);
        assert!((model.mean_loss() - share).abs() < 0.01 * share, "{name}: {}", model.mean_loss());
        let [lost, lost_again, run] = lost(model, 400_000);
        assert!((lost - share).abs() < 0.06 * share, "{name}: {lost}");
        assert!((lost_again - again).abs() < 0.02, "{name}: {lost_again}");
        assert!((run * (1.0 - again) - 1.0).abs() < 0.03, "{name}: {run} in a row");
    }
}

/// Jiang and Schulzrinne's own example for their first trace: p = 0.004 and q = 0.851.
#[test]
fn the_first_trace_has_the_parameters_that_its_authors_print() {
    let model = preset("columbia_gmd");
    assert!(
        (model.good_to_bad - 0.004).abs() < 5e-5 && (model.bad_to_good - 0.851).abs() < 5e-4,
        "{model:?}"
    );
}

/// Hasslinger and Hohlfeld 2008: a loss rate of 0.098%, in long periods with less than half lost.
#[test]
fn the_backbone_loses_what_was_fitted() {
    let model = preset("backbone");
    assert!((model.mean_loss() - 0.00098).abs() < 0.00001, "{}", model.mean_loss());
    assert!((1.0 / model.bad_to_good - 166.2).abs() < 0.1, "{model:?}");
    let [_, again, run] = lost(GilbertElliott { good_to_bad: 0.01, ..model }, 400_000);
    assert!((again - 0.443).abs() < 0.02 && (run - 1.79).abs() < 0.06, "{again} {run}");
}

/// Michel 2023: both ends of the ranges, 13% and 12% loss, in bursts of 12.5 and 2 frames.
#[test]
fn flights_lose_at_both_ends_of_the_ranges() {
    for (name, share, period) in [("in_flight_long", 0.129, 12.5), ("in_flight_short", 0.124, 2.0)] {
        let model = preset(name);
        assert!((1.0 / model.bad_to_good - period).abs() < 1e-9, "{name}: {model:?}");
        let [lost, ..] = lost(model, 400_000);
        assert!((lost - share).abs() < 0.006, "{name}: {lost}");
    }
}
