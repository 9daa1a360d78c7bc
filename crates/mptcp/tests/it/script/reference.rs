//! The page of RFCs, sections and scripts: `docs/reference/rfc-coverage.md`.
//!
//! Owns its form; what stands in it comes from the scripts and from the table of states.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::states::{self, STATES, fill};
use super::{Head, scripts_of};

const OPENING: &str = "# What is held against which RFC

`UPDATE=1 cargo test -p mptcp --test it scripts::` writes this page; the tests hold it against the scripts, and these against the
stack. How a script is written: [crates/mptcp/scripts](../../crates/mptcp/scripts/README.md). A script that is *wanting* says what
the RFC demands, and the stack does not do it: the test fails when it begins to.

";

/// The page, of the scripts in these directories.
pub fn page(directories: &[&str]) -> Result<String, String> {
    let mut chapters: BTreeMap<u32, Vec<(String, Head)>> = BTreeMap::new();
    for directory in directories {
        for (name, text) in scripts_of(directory) {
            let head = super::head(&name, &text)?;
            let number =
                head.rfc.parse().map_err(|_| format!("{name}: `{}` is no RFC's number", head.rfc))?;
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
    page.push_str("| RFC | scripts | wanting |\n|---|--:|--:|\n");
    let (mut all, mut lacking) = (0, 0);
    for (rfc, scripts) in chapters {
        let wanting = scripts.iter().filter(|(_, head)| head.wanting.is_some()).count();
        let _ = writeln!(page, "| [{rfc}](#rfc-{rfc}) | {} | {wanting} |", scripts.len());
        (all, lacking) = (all + scripts.len(), lacking + wanting);
    }
    let rows = events.iter().map(|event| event.rows.len()).sum::<usize>();
    let _ = writeln!(page, "| all | {all} | {lacking} |\n");
    let _ = writeln!(page, "And [{rows} lines of state and segment](#states).");
}

fn chapter(page: &mut String, rfc: u32, scripts: &[(String, Head)]) {
    let _ = writeln!(page, "\n## RFC {rfc}\n\n| section | demands | script |\n|---|---|---|");
    for (name, head) in scripts {
        let short = name.rsplit('/').next().unwrap_or(name).trim_end_matches(".txt");
        let wanting = head.wanting.as_ref().map(|reason| format!(" *Wanting: {reason}*")).unwrap_or_default();
        let (section, demands) = (&head.section, &head.demands);
        let _ = writeln!(
            page,
            "| {section} | {demands}{wanting} | [{short}](../../crates/mptcp/scripts/{name}) |"
        );
    }
}

/// Sections in the order of their numbers; appendices, which have letters, come last.
fn sections(text: &str) -> Vec<u32> {
    text.split('.').map(|number| number.parse().unwrap_or(u32::MAX)).collect()
}

fn state_table(page: &mut String, events: &[states::Event]) {
    page.push_str(
        "\n## States\n\nWhat comes in each state, what is answered, and which state follows where it changes. Numbers count \
         from the SYNs;\na dash is silence. From [states.txt](../../crates/mptcp/scripts/states.txt).\n",
    );
    for event in events {
        let (rfc, section) = (&event.rfc, &event.section);
        let _ = writeln!(page, "\n### {} (RFC {rfc} section {section})\n", capital(&event.name));
        page.push_str("| state | in | out | then |\n|---|---|---|---|\n");
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
            let wanting = row.wanting.as_ref().map(|why| format!(" *Wanting: {why}*")).unwrap_or_default();
            let segment = fill(&event.segment, numbers);
            let _ = writeln!(page, "| {} | `{segment}` | {answer}{wanting} | {after} |", row.state);
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
