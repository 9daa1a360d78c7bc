//! docs/research/beside-linux.md: what was found, in the words of the situations.

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

    /// The events that more runs showed than any others, and how many did.
    pub fn commonest(&self) -> (&Events, usize) {
        let counted = self.0.iter().rev().map(|one| (one, self.alike(one)));
        counted.max_by_key(|(_, count)| *count).unwrap()
    }

    /// The events that more than half of the runs showed.
    fn usual(&self) -> Option<&Events> {
        let (events, count) = self.commonest();
        (2 * count > self.0.len()).then_some(events)
    }

    fn show(&self) -> String {
        let (events, alike) = self.commonest();
        format!("{alike} of {} runs: {}", self.0.len(), events.show(true))
    }
}

/// What the runs of both say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Equal,
    Pace,
    Different,
    /// The runs of one stack differ among themselves: nothing is usual that could be compared.
    Varies,
}

/// What came of a situation.
pub struct Outcome {
    pub situation: &'static Situation,
    pub linux: Runs,
    pub ours: Runs,
}

impl Outcome {
    /// By the usual events. Where chance decides, what is usual for each has been seen of the other, and that is equal too.
    pub fn found(&self) -> Found {
        let (Some(linux), Some(ours)) = (self.linux.usual(), self.ours.usual()) else {
            return Found::Varies;
        };
        if self.linux.alike(ours) > 0 && self.ours.alike(linux) > 0 {
            return Found::Equal;
        }
        match linux.compare(ours) {
            Verdict::Equal => Found::Equal,
            Verdict::Pace => Found::Pace,
            Verdict::Different => Found::Different,
        }
    }

    /// Whether what one of both did most often was seen of the other.
    pub fn overlaps(&self) -> bool {
        let (linux, ours) = (self.linux.commonest().0, self.ours.commonest().0);
        self.linux.alike(ours) > 0 || self.ours.alike(linux) > 0
    }

    /// Takes further runs of the same situation.
    pub fn add(&mut self, more: Self) {
        self.linux.0.extend(more.linux.0);
        self.ours.0.extend(more.ours.0);
    }

    /// What has to be looked into: a difference without an explanation, or another one than the page explains.
    pub fn complaint(&self, page: &str) -> Option<String> {
        let found = self.found();
        let name = self.situation.name;
        if found == Found::Equal {
            return None;
        }
        if reason(name).is_empty() {
            return Some(format!("{name}: {found:?}, without an explanation"));
        }
        let known = explained(page, name);
        let changed = [("Linux", &self.linux), ("ours", &self.ours)].into_iter().filter(|(who, runs)| {
            let now = runs.usual().map(|events| kinds(&events.show(true)));
            let then = known.iter().find(|(of, _)| of == who);
            // What varies now or varied then is no list to compare with.
            found == Found::Different
                && now.is_some()
                && then.is_none_or(|(_, then)| then.is_some() && *then != now)
        });
        let changed: Vec<_> = changed.map(|(who, _)| who).collect();
        (!changed.is_empty())
            .then(|| format!("{name}: its explanation is of other events ({})", changed.join(" and ")))
    }
}

/// The lists of events that stand under a situation's heading, without how far new data had come; none where most runs were others.
fn explained<'a>(page: &'a str, name: &str) -> Vec<(&'a str, Option<String>)> {
    let heading = format!("### {name}");
    let under =
        page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with('#'));
    let lists = under.filter_map(|line| line.strip_prefix("- ")?.split_once(" runs: "));
    lists
        .filter_map(|(counted, events)| {
            let (who, alike) = counted.split_once(", ")?;
            let (alike, of) = alike.split_once(" of ")?;
            let usual = 2 * alike.parse::<usize>().ok()? > of.parse().ok()?;
            Some((who, usual.then(|| kinds(events))))
        })
        .collect()
}

/// Without the pace.
fn kinds(events: &str) -> String {
    let marked = events.replace(":** ", ":**; ");
    let apart = marked.split("; ").filter(|event| !event.starts_with("to "));
    apart.collect::<Vec<_>>().join("; ")
}

const HEAD: &str = "# Beside Linux

<!-- Written by tools/beside-linux. -->

Each situation is played by Linux and by us: the stack opens a connection over a line of 40 ms and 30 Mb/s to a peer that is Linux
in either case, and a script acts on the packets by content and order (segment 15 for the first time, the second acknowledgement), so that
both meet the same. What the stack under test sent is taken down where it stands and reduced to events; the lists are compared.

- An event is a handshake with its options, a retransmission, a burst at the beginning or after silence, an acknowledgement with SACK,
  DSACK or ECE, a probe, CWR, an option of MPTCP, FIN or RST. `(RTO)` before it says that a timer sent it, after so much silence
  in classes that are a doubling wide; all others are answers to what came. `again 15` is sent again, `also 15` goes on another
  path as well, `to 30` says how far new data had come. Segments are counted from 1.
- **Equal**: the same events with the same causes in the same order on each path, and new data at no event further apart than two
  segments. **Pace**: the same events, and new data further apart. **Different**: anything else. What is not compared: plain
  acknowledgements, PSH, random numbers, times beyond their class; of a row of growing SACKs the last one counts.
- Five runs of each stack; those events count that more than half of them showed. Where chance decides, and what is usual for each has
  been seen of the other, that is equal. **Varies**: no list was seen in more than half of a stack's runs, so there is nothing to compare.
- Ours runs with what there is to be like Linux: `LinuxCubic`, HyStart, `LinuxCompat::LINUX`, no pacing, the driver's defaults; for Multipath
  TCP `LinuxStack::LINUX` and the scheduler `linux`. The rule can come out the other way: `live/beside::a_planted_difference_is_noticed`.

`sudo tools/beside-linux` plays all and writes this page (three minutes); `sudo tools/beside-linux NAME...` plays some and prints them. It
fails where a difference has no explanation, and where it is not the one below any more. A handful run as `live/beside::a_handful_is_as_in_linux`.
";

/// The whole page.
pub fn page(outcomes: &[Outcome], kernel: &str) -> String {
    let mut text = HEAD.to_owned();
    let count = |found: Found| outcomes.iter().filter(|outcome| outcome.found() == found).count();
    let _ = writeln!(
        text,
        "\n## {} situations, Linux {kernel}\n\n{} equal, {} at another pace, {} different, {} vary.\n",
        outcomes.len(),
        count(Found::Equal),
        count(Found::Pace),
        count(Found::Different),
        count(Found::Varies),
    );
    text += "| situation | what happens | |\n|---|---|---|\n";
    for outcome in outcomes {
        let Situation { name, told, .. } = outcome.situation;
        let word = match outcome.found() {
            Found::Equal => "equal".to_owned(),
            Found::Pace => format!("[pace](#{name})"),
            Found::Different => format!("[different](#{name})"),
            Found::Varies => format!("[varies](#{name})"),
        };
        let _ = writeln!(text, "| {name} | {told} | {word} |");
    }
    text += "\n## Where they differ\n";
    for outcome in outcomes.iter().filter(|outcome| outcome.found() != Found::Equal) {
        let Situation { name, told, .. } = outcome.situation;
        let _ = writeln!(text, "\n### {name}\n\n{told}.\n");
        for (who, runs) in [("Linux", &outcome.linux), ("ours", &outcome.ours)] {
            let _ = writeln!(text, "- {who}, {}", runs.show());
        }
        let _ = writeln!(text, "\n{}", reason(name));
    }
    text += "\n## Where they are equal\n\n| situation | what both did (here Linux) |\n|---|---|\n";
    for outcome in outcomes.iter().filter(|outcome| outcome.found() == Found::Equal) {
        let _ = writeln!(text, "| {} | {} |", outcome.situation.name, outcome.linux.commonest().0.show(true));
    }
    text
}

#[test]
fn an_explanation_is_of_these_events_at_any_pace() {
    let page = "### mp-close\n\nThe end.\n\n- Linux, 5 of 5 runs: to 10; again 3; **path 2:** to 4; FIN; end\n- ours, 3 of 5 runs: FIN; end\n\n\
                ### other\n\n- Linux, 2 of 5 runs: RST; end\n";
    let known = explained(page, "mp-close");
    assert_eq!(known.len(), 2);
    assert_eq!(known[0], ("Linux", Some(kinds("again 3; **path 2:** FIN; end"))));
    assert_eq!(known[1], ("ours", Some(kinds("to 7; FIN; end"))));
    assert_ne!(known[1].1, Some(kinds("to 7; RST; end")));
    assert_eq!(explained(page, "other"), [("Linux", None)], "what varied is nothing to compare with");
    assert_eq!(explained(page, "nothing"), []);
}
