//! docs/reference/middlebox-outcomes.md: what each middlebox does to Multipath TCP, as it was found.

use super::{Case, Outcome, PLACES, Variant};

const OPENING: &str = "# What middleboxes do to Multipath TCP

A middlebox stands at the second end of a path or link (`[middleboxes.NAME]`, see [scenario.md](../scenario.md)). Each was put on
a path of 8 Mb/s, or on one or both of two, with 0 % and 1 % loss, for a transfer of 1 MB up and one down, with and without the
DSS checksum, in version 0 (RFC 6824) and version 1 (RFC 8684). Where an outcome depends on one of these, the table says on
which. This page is what was found: `UPDATE=1 cargo test -p mptcp-lab --test it middleboxes::` writes it anew.

- **MPTCP**: the data arrive intact, and the path with the box carries its part.
- **MPTCP, without this path**: intact; the subflow through the box was never opened, or reset.
- **TCP**: the connection fell back (RFC 8684 section 3.7), for this reason, and the data arrive intact.
- **changed data delivered**: the application got what the box wrote; the summary of the run says `DATA DAMAGED`.
- **ends early**: no subflow is left, and the connection ends with an error.
";

/// The outcome of each variant of one version and place.
pub type Cell = Vec<(Variant, Outcome)>;

/// The page; `cells` gives the outcomes of a case by version and place.
pub fn page(results: &[(&Case, Vec<Cell>)]) -> String {
    let mut page = OPENING.to_owned();
    for (case, cells) in results {
        let words = case.what.split_whitespace().collect::<Vec<_>>().join(" ");
        page += &format!("\n## {}\n\n{words}\n\n", case.name);
        let said: Vec<String> = cells.iter().map(said).collect();
        let (v0, v1) = said.split_at(PLACES.len());
        let alike = v0 == v1;
        page += if alike {
            "| the box is on | v0 and v1 |\n|---|---|\n"
        } else {
            "| the box is on | v0 | v1 |\n|---|---|---|\n"
        };
        for ((place, v0), v1) in PLACES.iter().zip(v0).zip(v1) {
            let last = if alike { String::new() } else { format!(" {v1} |") };
            page += &format!("| {} | {v0} |{last}\n", place.0);
        }
    }
    page
}

/// Names of what may decide an outcome, and of its two values.
type Decider = (fn(Variant) -> bool, [&'static str; 2]);
const DECIDERS: [Decider; 3] = [
    (|variant| variant.checksum, ["without checksum", "with checksum"]),
    (|variant| variant.upload, ["download", "upload"]),
    (|variant| variant.lossy, ["no loss", "1 % loss"]),
];

/// The outcomes, told apart by as few things as decide them.
fn said(cell: &Cell) -> String {
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
            let told = |(values, texts): &(Vec<&str>, Vec<String>)| match values.join(", ") {
                when if when.is_empty() => texts[0].clone(),
                when => format!("*{when}*: {}", texts[0]),
            };
            return groups.iter().map(told).collect::<Vec<_>>().join("<br>");
        }
    }
    unreachable!("all three together tell every variant from every other")
}
