//! Each controller on the subflows of an MPTCP connection.

use super::*;

/// Two paths, with random loss on the longer one.
fn run(congestion: &str, seed: u64) -> Measurements {
    let text = format!(
        "duration = \"30s\"\nwarmup = \"10s\"\n[paths.a]\nrate = \"40Mbit\"\nrtt = \"20ms\"\nqueue = \"100kB\"\n\
         [paths.b]\nrate = \"20Mbit\"\nrtt = \"60ms\"\nqueue = \"150kB\"\n[paths.b.forward]\nloss = \"0.5%\"\n\
         [flows.f]\ncongestion = {congestion}\n"
    );
    let scenario = Scenario::parse(&text, "multipath").unwrap_or_else(|error| panic!("{error}\n{text}"));
    World::new(&scenario, seed).expect("a network").run().expect("it comes to its end")
}

/// BBR subflows fill both paths, and 0.5% loss costs little; uncoupled CUBIC leaves most of the lossy path
/// unused.
#[test]
fn subflows_of_bbr_fill_both_paths() {
    let rates = |congestion| {
        let rates = each(1..=3, |seed| {
            let measured = run(congestion, seed);
            assert!(measured.flows[0].intact && measured.flows[0].multipath, "{congestion}");
            goodput(&measured, 'f')
        });
        println!("{congestion} {rates:.1?}");
        rates
    };
    for congestion in ["\"bbr\"", "\"bbr3\""] {
        let rates = rates(congestion);
        assert!(lowest(&rates) > 51.0, "{congestion}: {rates:?}");
    }
    for congestion in ["\"cubic\"", "{ kind = \"cubic\", as = \"linux\", hertz = 250 }"] {
        let rates = rates(congestion);
        assert!(highest(&rates) < 51.0, "{congestion}: {rates:?}");
    }
}
