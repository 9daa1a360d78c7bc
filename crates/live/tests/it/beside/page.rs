//! docs/beside-linux.md: what was found, in the words of the situations.

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

    /// The events that most runs showed, and how many did.
    pub fn usual(&self) -> (&Events, usize) {
        let counted = self.0.iter().rev().map(|one| (one, self.alike(one)));
        counted.max_by_key(|(_, count)| *count).unwrap()
    }
}

/// What came of a situation.
pub struct Outcome {
    pub situation: &'static Situation,
    pub linux: Runs,
    pub ours: Runs,
}

impl Outcome {
    /// By the usual events. Where chance decides, what is usual for each has been seen of the other, and that is equal too.
    pub fn verdict(&self) -> Verdict {
        let ((linux, _), (ours, _)) = (self.linux.usual(), self.ours.usual());
        let crossed = self.linux.alike(ours) > 0 && self.ours.alike(linux) > 0;
        if crossed { Verdict::Equal } else { linux.compare(ours) }
    }

    /// Whether it has an explanation if it needs one.
    pub fn is_explained(&self) -> bool {
        self.verdict() == Verdict::Equal || !reason(self.situation.name).is_empty()
    }
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
- Three runs of each stack; those events count that most of them showed. Where chance decides, and what is usual for each has been seen
  of the other, that is equal.
- Ours runs with what there is to be like Linux: `LinuxCubic`, HyStart, `LinuxCompat::LINUX`, no pacing, the driver's defaults; for Multipath
  TCP `LinuxStack::LINUX` and the scheduler `linux`. The rule can come out the other way: `live/beside::a_planted_difference_is_noticed`.

`sudo tools/beside-linux` plays all and writes this page (two minutes); `sudo tools/beside-linux NAME...` plays some and prints them. It
fails where a difference has no explanation. A handful run as `live/beside::a_handful_is_as_in_linux`.
";

/// The whole page.
pub fn page(outcomes: &[Outcome], kernel: &str) -> String {
    let mut text = HEAD.to_owned();
    let count = |verdict: Verdict| outcomes.iter().filter(|outcome| outcome.verdict() == verdict).count();
    let _ = writeln!(
        text,
        "\n## {} situations, Linux {kernel}\n\n{} equal, {} at another pace, {} different.\n",
        outcomes.len(),
        count(Verdict::Equal),
        count(Verdict::Pace),
        count(Verdict::Different),
    );
    text += "| situation | what happens | |\n|---|---|---|\n";
    for outcome in outcomes {
        let Situation { name, told, .. } = outcome.situation;
        let word = match outcome.verdict() {
            Verdict::Equal => "equal".to_owned(),
            Verdict::Pace => format!("[pace](#{name})"),
            Verdict::Different => format!("[different](#{name})"),
        };
        let _ = writeln!(text, "| {name} | {told} | {word} |");
    }
    text += "\n## Where they differ\n";
    for outcome in outcomes.iter().filter(|outcome| outcome.verdict() != Verdict::Equal) {
        let Situation { name, told, .. } = outcome.situation;
        let _ = writeln!(text, "\n### {name}\n\n{told}.\n");
        for (who, runs) in [("Linux", &outcome.linux), ("ours", &outcome.ours)] {
            let (events, alike) = runs.usual();
            let _ = writeln!(text, "- {who}, {alike} of {} runs: {}", runs.0.len(), events.show(true));
        }
        let _ = writeln!(text, "\n{}", reason(name));
    }
    text += "\n## Where they are equal\n\n| situation | what both did (here Linux) |\n|---|---|\n";
    for outcome in outcomes.iter().filter(|outcome| outcome.verdict() == Verdict::Equal) {
        let _ = writeln!(text, "| {} | {} |", outcome.situation.name, outcome.linux.usual().0.show(true));
    }
    text
}
