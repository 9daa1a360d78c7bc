//! Writes docs/reference/middlebox-outcomes.md, the outcome of each middlebox.

use super::{Case, Outcome, PLACES, Variant};

const OPENING: &str = "# Middleboxes and MPTCP

This page shows how MPTCP reacts to each middlebox of the simulator (`[middleboxes.NAME]`, see [scenario.md](../scenario.md)).
Use it to explain a fallback, a missing subflow or damaged data.

- The box is at the second end of a path: on the only path, on one of two paths, or on both. Each path has 8 Mb/s.
- Each test transfers 1 MB in both directions, with 0% and 1% loss, with and without the DSS checksum.
- The versions are v0 (RFC 6824) and v1 (RFC 8684). If an outcome depends on a condition, the table names it.
- `UPDATE=1 cargo test -p mptcp-lab --test it middleboxes::` writes this page.

| outcome | meaning |
|---|---|
| **MPTCP** | The data arrives intact, and the path with the box carries its part. |
| **MPTCP, without this path** | The data arrives intact. The subflow through the box never opened or was reset. |
| **TCP** | The data arrives intact. The connection fell back (RFC 8684 section 3.7) for the given reason. |
| **changed data delivered** | The application received the data of the box. The summary of the run prints `DATA DAMAGED`. |
| **ends early** | The connection ends with an error, because no subflow is left. |
";

/// The outcome of each variant of one version and place.
pub type Cell = Vec<(Variant, Outcome)>;

/// The page. Each case has one cell for each version and place.
pub fn page(results: &[(&Case, Vec<Cell>)]) -> String {
    let mut page = OPENING.to_owned();
    for (case, cells) in results {
        let words = case.what.split_whitespace().collect::<Vec<_>>().join(" ");
        page += &format!("\n## {}\n\n{words}\n\n", case.name);
        let texts: Vec<String> = cells.iter().map(cell_text).collect();
        let (v0, v1) = texts.split_at(PLACES.len());
        let alike = v0 == v1;
        page += if alike {
            "| place of the box | v0 and v1 |\n|---|---|\n"
        } else {
            "| place of the box | v0 | v1 |\n|---|---|---|\n"
        };
        for ((place, v0), v1) in PLACES.iter().zip(v0).zip(v1) {
            let last = if alike { String::new() } else { format!(" {v1} |") };
            page += &format!("| {} | {v0} |{last}\n", place.0);
        }
    }
    page
}

/// A condition that may decide an outcome, and its two names.
type Decider = (fn(Variant) -> bool, [&'static str; 2]);
const DECIDERS: [Decider; 3] = [
    (|variant| variant.checksum, ["without checksum", "with checksum"]),
    (|variant| variant.upload, ["download", "upload"]),
    (|variant| variant.lossy, ["no loss", "1% loss"]),
];

/// The outcomes by the smallest set of conditions that decides them.
fn cell_text(cell: &Cell) -> String {
    for chosen in [0b000_usize, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110, 0b111] {
        let deciders: Vec<&Decider> =
            DECIDERS.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, one)| one).collect();
        let mut groups: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
        for (variant, outcome) in cell {
            let values = deciders.iter().map(|(of, names)| names[usize::from(of(*variant))]).collect();
            let text = outcome.text();
            match groups.iter_mut().find(|(known, _)| *known == values) {
                Some((_, texts)) if texts.contains(&text) => {}
                Some((_, texts)) => texts.push(text),
                None => groups.push((values, vec![text])),
            }
        }
        if groups.iter().all(|(_, texts)| texts.len() == 1) {
            let outcome = |(values, texts): &(Vec<&str>, Vec<String>)| match values.join(", ") {
                when if when.is_empty() => texts[0].clone(),
                when => format!("*{when}*: {}", texts[0]),
            };
            return groups.iter().map(outcome).collect::<Vec<_>>().join("<br>");
        }
    }
    unreachable!("three conditions distinguish all variants")
}
