//! Writes docs/research/linux-comparison.md, and compares new outcomes with it.

use std::fmt::Write;

use super::events::{Events, Verdict};
use super::reasons::reason;
use super::stage::Situation;

/// The runs of a stack.
pub struct Runs(Vec<Events>);

impl Runs {
    pub fn new(runs: Vec<Events>) -> Self {
        Self(runs)
    }

    fn alike(&self, one: &Events) -> usize {
        self.0.iter().filter(|other| one.compare(other) == Verdict::Equal).count()
    }

    /// The most frequent list of events, and the number of its runs.
    pub fn commonest(&self) -> (&Events, usize) {
        let counted = self.0.iter().rev().map(|one| (one, self.alike(one)));
        counted.max_by_key(|(_, count)| *count).unwrap()
    }

    /// The list of events of more than half of the runs.
    fn usual(&self) -> Option<&Events> {
        let (events, count) = self.commonest();
        (2 * count > self.0.len()).then_some(events)
    }

    fn show(&self) -> String {
        let (events, alike) = self.commonest();
        format!("{alike} of {} runs: `{}`", self.0.len(), events.show(true))
    }
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    Equal,
    Pace,
    Different,
    /// The runs of one stack differ among themselves, so there is no usual list to compare.
    Varies,
}

/// The runs of a situation.
pub struct Outcome {
    pub situation: &'static Situation,
    pub linux: Runs,
    pub mptcplab: Runs,
}

impl Outcome {
    /// Compares the usual lists. They are also equal if each was seen in a run of the other stack.
    pub fn finding(&self) -> Finding {
        let (Some(linux), Some(mptcplab)) = (self.linux.usual(), self.mptcplab.usual()) else {
            return Finding::Varies;
        };
        if self.linux.alike(mptcplab) > 0 && self.mptcplab.alike(linux) > 0 {
            return Finding::Equal;
        }
        match linux.compare(mptcplab) {
            Verdict::Equal => Finding::Equal,
            Verdict::Pace => Finding::Pace,
            Verdict::Different => Finding::Different,
        }
    }

    /// Whether the most frequent list of one stack was seen in a run of the other.
    pub fn overlaps(&self) -> bool {
        let (linux, mptcplab) = (self.linux.commonest().0, self.mptcplab.commonest().0);
        self.linux.alike(mptcplab) > 0 || self.mptcplab.alike(linux) > 0
    }

    /// Adds runs of the same situation.
    pub fn add(&mut self, more: Self) {
        self.linux.0.extend(more.linux.0);
        self.mptcplab.0.extend(more.mptcplab.0);
    }

    /// An unexplained difference, or one that is not on the page.
    pub fn complaint(&self, page: &str) -> Option<String> {
        let finding = self.finding();
        let name = self.situation.name;
        if finding == Finding::Equal {
            return None;
        }
        if reason(name).is_empty() {
            return Some(format!("{name}: {finding:?}, without an explanation in reasons.rs"));
        }
        let known = explained(page, name);
        let stacks = [("Linux", &self.linux), ("mptcplab", &self.mptcplab)];
        let changed = stacks.into_iter().filter(|(stack, runs)| {
            let now = runs.usual().map(|events| without_pace(&events.show(true)));
            let then = known.iter().find(|(of, _)| of == stack);
            // A list that varies now, or varied then, is not compared.
            finding == Finding::Different
                && now.is_some()
                && then.is_none_or(|(_, then)| then.is_some() && *then != now)
        });
        let changed: Vec<_> = changed.map(|(stack, _)| stack).collect();
        (!changed.is_empty())
            .then(|| format!("{name}: its explanation describes other events ({})", changed.join(" and ")))
    }
}

/// The lists of events under the heading of a situation, without the pace. `None` for a list of a minority of the runs.
fn explained<'a>(page: &'a str, name: &str) -> Vec<(&'a str, Option<String>)> {
    let heading = format!("### {name}");
    let under =
        page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with('#'));
    let lists = under.filter_map(|line| line.strip_prefix("- ")?.split_once(" runs: "));
    lists
        .filter_map(|(counted, events)| {
            let (stack, alike) = counted.split_once(", ")?;
            let (alike, of) = alike.split_once(" of ")?;
            let usual = 2 * alike.parse::<usize>().ok()? > of.parse().ok()?;
            Some((stack, usual.then(|| without_pace(events.trim_matches('`')))))
        })
        .collect()
}

/// The events without the progress of new data.
fn without_pace(events: &str) -> String {
    let marked = (1..=4).fold(events.to_owned(), |text, path| {
        text.replace(&format!("path {path}: "), &format!("path {path}:; "))
    });
    let apart = marked.split("; ").filter(|event| !event.starts_with("data to "));
    apart.collect::<Vec<_>>().join("; ")
}

const HEAD: &str = "# Comparison with Linux

<!-- Written by tools/compare-linux. -->

This page compares the packets of mptcplab with those of Linux in the same situations. Use it to find out where the stack behaves differently, and why.

```sh
sudo tools/compare-linux             # play all situations and write this page (three minutes)
sudo tools/compare-linux tail idle   # play two situations and print them
```

The stack under test opens a connection over a link of 40 ms and 30 Mb/s to a Linux peer. A script acts on packets by their content and order, for example on the first copy of segment 15.
The test captures the packets of the stack, reduces them to events, and compares the lists of both stacks. Each stack plays five runs.

| event | meaning |
|---|---|
| `SYN ...`, `ACK ...`, `FIN`, `RST`, `CWR` | a segment with these options, flags or blocks |
| `burst of 10` | ten segments at the start or after an idle period |
| `data to 30` | the new data so far: segment 30 |
| `retransmit 15` | segment 15 is retransmitted on its path |
| `reinject 15` | segment 15 is also sent on another path |
| `(RTO) ...` | a timer caused the event, after this idle time. Other events answer a packet. |

- **Equal** lists have the same events, causes and order on each path. New data differs by at most two segments at each event.
- **Pace** means equal events with a larger difference of new data. **Different** is any other difference.
- The list of more than half of the runs counts. **Varies** means that a stack has no such list. Lists that both stacks show in some runs are equal.
- Plain acknowledgements, PSH, random numbers and times within a class are not compared. Of several growing SACKs, the last one counts.
- mptcplab uses `LinuxCubic`, HyStart, `LinuxCompat::LINUX` and no pacing, and for MPTCP `LinuxStack::LINUX` and the scheduler `linux`.
- The tool fails if a difference has no explanation, or differs from this page. `linux_comparison::a_planted_difference_is_noticed` tests the comparison.
";

/// The complete page.
pub fn page(outcomes: &[Outcome], kernel: &str) -> String {
    let mut text = HEAD.to_owned();
    let count = |finding: Finding| outcomes.iter().filter(|outcome| outcome.finding() == finding).count();
    let _ = writeln!(
        text,
        "\n## {} situations, Linux {kernel}\n\n{} are equal, {} has another pace, {} are different, {} vary.\n",
        outcomes.len(),
        count(Finding::Equal),
        count(Finding::Pace),
        count(Finding::Different),
        count(Finding::Varies),
    );
    text += "| situation | event | result |\n|---|---|---|\n";
    for outcome in outcomes {
        let Situation { name, description, .. } = outcome.situation;
        let word = match outcome.finding() {
            Finding::Equal => "equal".to_owned(),
            Finding::Pace => format!("[pace](#{name})"),
            Finding::Different => format!("[different](#{name})"),
            Finding::Varies => format!("[varies](#{name})"),
        };
        let _ = writeln!(text, "| {name} | {description} | {word} |");
    }
    text += "\n## Differences\n";
    for outcome in outcomes.iter().filter(|outcome| outcome.finding() != Finding::Equal) {
        let Situation { name, description, .. } = outcome.situation;
        let _ = writeln!(text, "\n### {name}\n\n{description}.\n");
        for (stack, runs) in [("Linux", &outcome.linux), ("mptcplab", &outcome.mptcplab)] {
            let _ = writeln!(text, "- {stack}, {}", runs.show());
        }
        let _ = writeln!(text, "\n{}", reason(name));
    }
    text += "\n## Equal situations\n\n| situation | events of Linux |\n|---|---|\n";
    for outcome in outcomes.iter().filter(|outcome| outcome.finding() == Finding::Equal) {
        let _ =
            writeln!(text, "| {} | `{}` |", outcome.situation.name, outcome.linux.commonest().0.show(true));
    }
    text
}

#[test]
fn explanations_match_events_at_any_pace() {
    let page = "### mp-close\n\nThe end.\n\n- Linux, 5 of 5 runs: `data to 10; retransmit 3; path 2: data to 4; FIN; end`\n- mptcplab, 3 of 5 runs: `FIN; end`\n\n\
                ### other\n\n- Linux, 2 of 5 runs: `RST; end`\n";
    let known = explained(page, "mp-close");
    assert_eq!(known.len(), 2);
    assert_eq!(known[0], ("Linux", Some(without_pace("retransmit 3; path 2: FIN; end"))));
    assert_eq!(known[1], ("mptcplab", Some(without_pace("data to 7; FIN; end"))));
    assert_ne!(known[1].1, Some(without_pace("data to 7; RST; end")));
    assert_eq!(explained(page, "other"), [("Linux", None)], "a list that varied is not compared");
    assert_eq!(explained(page, "nothing"), []);
}
