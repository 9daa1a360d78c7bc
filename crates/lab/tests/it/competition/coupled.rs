//! MPTCP connections with several subflows over one bottleneck, in competition with one TCP flow.

use super::*;

/// Shares of an MPTCP connection with two subflows in the goodput of a bottleneck that it shares with one TCP flow, in three
/// runs.
fn shares(congestion: &str, tcp: &str, path: &str) -> Vec<f64> {
    let text = format!(
        "duration = \"60s\"\nwarmup = \"15s\"\n[paths.p]\n{path}\n\
         [flows.m]\ncongestion = {congestion}\ncoupling_scope = \"all\"\n\
         path_manager = {{ kind = \"ndiffports\", subflows = 2 }}\nscheduler = \"minrtt\"\npacing = false\n\
         [flows.t]\ntransport = \"tcp\"\ncongestion = {tcp}\nstart = \"300ms\"\npacing = false\n"
    );
    let scenario = Scenario::parse(&text, "coupled").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let shares = each(1..=3, |seed| {
        let measured = World::new(&scenario, seed).expect("a network").run().expect("it ends");
        let total: f64 = measured.flows.iter().map(|flow| flow.goodput).sum();
        assert!(total > 0.75 * 20e6, "{congestion}: {total}");
        share(&measured, 'm')
    });
    println!(
        "{congestion}, two subflows, against {tcp}: {shares:.3?}, mean {:.3}",
        mean(shares.iter().copied())
    );
    shares
}

/// A drop-tail queue of one bandwidth-delay product.
const DROPTAIL: &str = "rate = \"20Mbit\"\nrtt = \"40ms\"\nqueue = \"100kB\"";

/// All subflows together take as much as one TCP flow: the goal of Wischik et al. (NSDI 2011, section 2.1). Uncoupled
/// subflows take two thirds, and EWTCP with the weight that the paper prints takes `2^0.75` of TCP, 63%.
#[test]
fn coupled_controllers_share_a_bottleneck_like_one_tcp() {
    for congestion in ["ewtcp", "coupled", "lia"] {
        let found = mean(shares(&format!("\"{congestion}\""), "\"reno\"", DROPTAIL));
        assert!((0.42..0.55).contains(&found), "{congestion}: {found}");
    }
    for (congestion, expected) in [("{ kind = \"ewtcp\", exponent = 0.5 }", 0.627), ("\"reno\"", 0.667)] {
        let found = mean(shares(congestion, "\"reno\"", DROPTAIL));
        assert!((found - expected).abs() < 0.05, "{congestion}: {found}");
    }
}

/// Scalable TCP takes more than Reno from a link with long windows (Kelly, CCR 33(2), 2003), and so does its form for
/// several paths.
#[test]
fn kelly_voice_takes_more_than_reno() {
    let found = mean(shares("\"kelly-voice\"", "\"reno\"", DROPTAIL));
    assert!((0.7..0.9).contains(&found), "{found}");
}

/// Cao et al. (CoNEXT 2013): an XMP connection takes as much as a connection with one subflow, for any number
/// of subflows. Uncoupled DCTCP subflows take two thirds. DCTCP, which reduces its window less, displaces XMP.
#[test]
fn xmp_shares_a_bottleneck_like_one_subflow() {
    let mark = format!("{DROPTAIL}\nmark = \"30p\"");
    let found = mean(shares("\"xmp\"", "\"xmp\"", &mark));
    assert!((0.45..0.55).contains(&found), "{found}");
    let uncoupled = mean(shares("\"dctcp\"", "\"dctcp\"", &mark));
    assert!((0.62..0.72).contains(&uncoupled), "{uncoupled}");
    let displaced = mean(shares("\"xmp\"", "\"dctcp\"", &mark));
    assert!(displaced < 0.25, "{displaced}");
}

/// Cao et al. (CoNEXT 2013): a link that marks above `K >= BDP / (beta - 1)` stays busy. The BDP has 67
/// packets, so K is 23 for beta = 4; a third of it leaves the link idle at times.
#[test]
fn xmp_keeps_a_link_busy_with_the_threshold_of_the_paper() {
    let busy = |threshold: u32| {
        let text = format!(
            "duration = \"30s\"\nwarmup = \"10s\"\n[paths.p]\n{DROPTAIL}\nmark = \"{threshold}p\"\n\
             [flows.t]\ntransport = \"tcp\"\ncongestion = \"xmp\"\npacing = false\n"
        );
        let scenario = Scenario::parse(&text, "busy").unwrap_or_else(|error| panic!("{error}"));
        let measured = World::new(&scenario, 1).expect("a network").run().expect("it ends");
        assert_eq!(measured.links[0].queue_drops, 0);
        goodput(&measured, 't') / (20.0 * 1448.0 / 1514.0)
    };
    let [low, bound] = [8, 23].map(busy);
    println!("K = 8: {:.1}% of the link, K = 23: {:.1}%", 100.0 * low, 100.0 * bound);
    assert!(bound > 0.98 && low < bound - 0.02, "{low} {bound}");
}

/// Mahmud et al. (IEEE Access 2020): coupled BBR subflows leave a single-path BBR flow its share, which uncoupled ones do
/// not.
#[test]
fn coupled_bbr_leaves_a_bbr_flow_its_share() {
    let coupled = mean(shares("\"coupled-bbr\"", "\"bbr\"", DROPTAIL));
    let uncoupled = mean(shares("\"bbr\"", "\"bbr\"", DROPTAIL));
    assert!((0.3..0.55).contains(&coupled) && uncoupled > 0.58, "{coupled} {uncoupled}");
}
