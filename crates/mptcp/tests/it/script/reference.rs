//! Writes `docs/reference/rfc-coverage.md` from the scripts and the table of states.
//!
//! Owns the form of the page, and the titles of the RFCs.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::states::{self, STATES, fill};
use super::{Head, scripts_of};

const OPENING: &str = "# RFC coverage

This page lists the rules of RFCs that scripts of segments test in virtual time. Use it to check whether `mptcp` implements a rule, and how.

- Each script is a file in [crates/mptcp/scripts](../../crates/mptcp/scripts/README.md), and its name is linked.
- A rule that the stack does not implement is *unsupported*. Its script must fail, and the test reports a script that passes.
- The scripts test the protocol on one host. [conformance.md](../contributing/conformance.md) has the scripts of packetdrill, and
  [linux-comparison.md](../research/linux-comparison.md) compares the stack with Linux.
- `UPDATE=1 cargo test -p mptcp --test it scripts::` writes this page.

";

/// Short titles of the RFCs.
const TITLES: &[(u32, &str)] = &[
    (1191, "Path MTU discovery"),
    (2018, "Selective acknowledgements"),
    (2883, "D-SACK"),
    (3042, "Limited transmit"),
    (3168, "Explicit congestion notification"),
    (3465, "Appropriate byte counting"),
    (3522, "Eifel detection"),
    (3708, "Spurious retransmissions by D-SACK"),
    (4015, "Eifel response"),
    (4821, "Packetization layer path MTU discovery"),
    (4987, "SYN flooding"),
    (5482, "User timeout option"),
    (5681, "Congestion control"),
    (5682, "F-RTO"),
    (5927, "ICMP attacks"),
    (5961, "Blind in-window attacks"),
    (6191, "TIME-WAIT and timestamps"),
    (6298, "Retransmission timer"),
    (6582, "NewReno"),
    (6675, "Loss recovery with SACK"),
    (6824, "MPTCP version 0"),
    (6928, "Initial window"),
    (6937, "Proportional rate reduction"),
    (7323, "Window scaling and timestamps"),
    (7413, "Fast Open"),
    (7661, "Congestion window validation"),
    (8201, "Path MTU discovery for IPv6"),
    (8257, "DCTCP"),
    (8511, "Alternative backoff with ECN"),
    (8684, "MPTCP version 1"),
    (8985, "RACK-TLP"),
    (9293, "TCP"),
    (9406, "HyStart++"),
    (9937, "Proportional rate reduction"),
];

/// The page for the scripts in these directories.
pub fn page(directories: &[&str]) -> Result<String, String> {
    let mut chapters: BTreeMap<u32, Vec<(String, Head)>> = BTreeMap::new();
    for directory in directories {
        for (name, text) in scripts_of(directory) {
            let head = super::head(&name, &text)?;
            let number =
                head.rfc.parse().map_err(|_| format!("{name}: rfc = {}: must be a number", head.rfc))?;
            chapters.entry(number).or_default().push((name, head));
        }
    }
    let mut page = OPENING.to_owned();
    let events = states::table();
    summary(&mut page, &chapters, &events);
    for (rfc, scripts) in &mut chapters {
        scripts.sort_by_key(|(name, head)| (sections(&head.section), name.clone()));
        chapter(&mut page, *rfc, scripts);
    }
    state_table(&mut page, &events);
    Ok(page)
}

fn summary(page: &mut String, chapters: &BTreeMap<u32, Vec<(String, Head)>>, events: &[states::Event]) {
    page.push_str("| RFC | title | scripts | unsupported |\n|---|---|--:|--:|\n");
    let (mut all, mut lacking) = (0, 0);
    for (rfc, scripts) in chapters {
        let unsupported = scripts.iter().filter(|(_, head)| head.unsupported.is_some()).count();
        let (title, number) = (title(*rfc), scripts.len());
        let _ = writeln!(page, "| [{rfc}](#rfc-{rfc}) | {title} | {number} | {unsupported} |");
        (all, lacking) = (all + number, lacking + unsupported);
    }
    let rows = events.iter().map(|event| event.rows.len()).sum::<usize>();
    let _ = writeln!(page, "| all | | {all} | {lacking} |\n");
    let _ = writeln!(page, "The table of [states](#states) adds {rows} pairs of state and segment.");
}

fn title(rfc: u32) -> &'static str {
    TITLES.iter().find(|(number, _)| *number == rfc).map_or("", |(_, title)| title)
}

fn chapter(page: &mut String, rfc: u32, scripts: &[(String, Head)]) {
    let _ = writeln!(page, "\n## RFC {rfc}\n\n| section | rule | script |\n|---|---|---|");
    for (name, head) in scripts {
        let short = name.rsplit('/').next().unwrap_or(name).trim_end_matches(".txt");
        let unsupported =
            head.unsupported.as_ref().map(|reason| format!(" *Unsupported: {reason}*")).unwrap_or_default();
        let (section, rule) = (&head.section, &head.rule);
        let _ = writeln!(
            page,
            "| {section} | {rule}{unsupported} | [{short}](../../crates/mptcp/scripts/{name}) |"
        );
    }
}

/// The key that sorts sections by number, and appendices last.
fn sections(text: &str) -> Vec<u32> {
    text.split('.').map(|number| number.parse().unwrap_or(u32::MAX)).collect()
}

fn state_table(page: &mut String, events: &[states::Event]) {
    page.push_str(
        "\n## States\n\nEach table has the answer to a segment in each state, and the next state if it changes. Numbers are \
         relative to the SYNs.\nA dash means no answer. The source is [states.txt](../../crates/mptcp/scripts/states.txt).\n",
    );
    for event in events {
        let (rfc, section) = (&event.rfc, &event.section);
        let _ = writeln!(page, "\n### {} (RFC {rfc} section {section})\n", capital(&event.name));
        page.push_str("| state | segment | answer | next state |\n|---|---|---|---|\n");
        for row in &event.rows {
            let numbers =
                STATES.iter().find(|(name, _)| *name == row.state).map_or([0; 3], |(_, numbers)| *numbers);
            let answer =
                row.answer.as_ref().map_or("-".into(), |answer| format!("`{}`", fill(answer, numbers)));
            let after = if row.after == row.state || row.state == "listen" && row.after == "closed" {
                String::new()
            } else {
                row.after.clone()
            };
            let unsupported =
                row.unsupported.as_ref().map(|why| format!(" *Unsupported: {why}*")).unwrap_or_default();
            let segment = fill(&event.segment, numbers);
            let _ = writeln!(page, "| {} | `{segment}` | {answer}{unsupported} | {after} |", row.state);
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}
