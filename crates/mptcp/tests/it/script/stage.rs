//! Plays the lines of a script in order, in virtual time.
//!
//! Owns the order of events. Timers run before a line of the same time. The script must list every segment of the host before
//! the next input or call. Never reads a clock.

use std::path::{Path, PathBuf};

use mptcp::Config;
use mptcp_clock::Duration;

use super::calls::Application;
use super::facts;
use super::host::Host;
use super::pattern::Pattern;
use super::peer::Peer;
use super::settings;
use super::text::{Fault, Line, Place, When, read, show};

/// Waiting time for a missing segment, to report the segment that is sent instead.
const PATIENCE: Duration = Duration::from_secs(300);

/// Maximum number of unexpected segments in a message.
const SHOWN: usize = 12;

/// The head of a script.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The number of the RFC.
    pub rfc: String,
    pub section: String,
    /// The rule, in one or two sentences.
    pub rule: String,
    /// The reason why the stack does not implement the rule.
    pub unsupported: Option<String>,
}

/// A script, and the directory of its beginnings.
#[derive(Debug)]
pub struct Script {
    pub head: Head,
    lines: Vec<Line>,
    /// The directory of the beginnings.
    begins: PathBuf,
}

struct Stage {
    host: Host,
    peer: Peer,
    application: Application,
    config: Option<Config>,
    /// A line has run, so settings are refused.
    begun: bool,
    time: Duration,
}

impl Script {
    /// Parses a script; `name` is for messages.
    pub fn parse(name: &str, text: &str, begins: &Path) -> Result<Self, Fault> {
        let mut head = Head::default();
        let mut lines = Vec::new();
        let all = read(name, text)?;
        let first = Place { file: name.into(), line: 1 };
        for line in all {
            let rest = || line.words[1..].join(" ");
            match line.words[0].as_str() {
                "rfc" if line.words.len() == 3 => {
                    (head.rfc, head.section) = (line.words[1].clone(), line.words[2].clone());
                }
                "rfc" => {
                    return Err(line.place.fault("expected an RFC and its section, such as `rfc 9293 3.5`"));
                }
                "rule" => head.rule = rest(),
                "unsupported" => head.unsupported = Some(rest()),
                _ => lines.push(line),
            }
        }
        for (what, text) in [("rfc", &head.rfc), ("rule", &head.rule)] {
            if text.is_empty() {
                return Err(first.fault(format!("the head lacks `{what}`")));
            }
        }
        Ok(Self { head, lines, begins: begins.into() })
    }

    /// Runs the script to its end.
    pub fn run(&self) -> Result<(), Fault> {
        let mut stage = Stage {
            host: Host::new(),
            peer: Peer::default(),
            application: Application::default(),
            config: None,
            begun: false,
            time: Duration::ZERO,
        };
        stage.play(&self.lines, &self.begins)?;
        match self.lines.last() {
            Some(last) => stage.expect_quiet(&last.place, "the script ends"),
            None => Ok(()),
        }
    }
}

impl Stage {
    fn play(&mut self, lines: &[Line], begins: &Path) -> Result<(), Fault> {
        for line in lines {
            if line.words[0] == "begin" {
                let [_, name] = line.words.as_slice() else {
                    return Err(line.place.fault("expected `begin NAME`"));
                };
                let file = begins.join(format!("{name}.txt"));
                let text = std::fs::read_to_string(&file)
                    .map_err(|error| line.place.fault(format!("{}: {error}", file.display())))?;
                self.play(&read(&format!("begin/{name}.txt"), &text)?, begins)?;
                continue;
            }
            self.step(line)?;
        }
        Ok(())
    }

    fn step(&mut self, line: &Line) -> Result<(), Fault> {
        let words: Vec<_> = line.words.iter().map(String::as_str).collect();
        let say = |what: String| line.place.fault(what);
        match words.as_slice() {
            ["stack", name] => {
                self.config = Some(settings::stack(name).map_err(say)?);
                return Ok(());
            }
            ["set", key, value] => {
                let config = self.config.as_mut().ok_or_else(|| say("`stack` comes before `set`".into()))?;
                if self.begun {
                    return Err(say("`set` comes before anything happens".into()));
                }
                return settings::set(config, key, value).map_err(say);
            }
            ["peer", key, value] => return self.peer.set(key, value).map_err(say),
            ["flow", name, peer, host] => return self.peer.declare(name, peer, host).map_err(say),
            ["interface", address, rest @ ..] => {
                let address =
                    address.parse().map_err(|_| say(format!("`{address}`: expected an address")))?;
                self.host.add_interface(address, *rest == ["backup"]);
                return Ok(());
            }
            _ => {}
        }
        self.begun = true;
        self.time = match line.when {
            When::After(span) => self.time + span,
            When::At(time) if time < self.time => {
                return Err(say(format!("{} has passed; the time is {}", show(time), show(self.time))));
            }
            When::At(time) => time,
        };
        self.act(line, &words)
    }

    fn act(&mut self, line: &Line, words: &[&str]) -> Result<(), Fault> {
        let say = |what: String| line.place.fault(what);
        let until = self.time + if words[0] == ">" { line.tolerance } else { Duration::ZERO };
        self.host.pass_until(until).map_err(say)?;
        match words {
            [">", ..] => self.expect(line),
            ["=", ..] => facts::check(&mut self.host, &mut self.peer, &line.words[1..]).map_err(say),
            ["<", ..] => {
                self.expect_quiet(&line.place, "this comes in")?;
                let pattern = Pattern::parse(&line.words[1..]).map_err(say)?;
                let segment = self.peer.compose(&pattern).map_err(say)?;
                self.host.receive(segment).map_err(say)
            }
            ["wait"] => self.expect_quiet(&line.place, "time passes"),
            _ => {
                self.expect_quiet(&line.place, "this call")?;
                let config = self.config.clone();
                let config = config.ok_or_else(|| say("a script begins with `stack NAME`".into()))?;
                self.application.call(&mut self.host, &mut self.peer, &config, words).map_err(say)
            }
        }
    }

    /// Expects this segment as the next one of the host, at this time.
    fn expect(&mut self, line: &Line) -> Result<(), Fault> {
        let say = |what: String| line.place.fault(what);
        let expected = Pattern::parse(&line.words[1..]).map_err(say)?;
        if self.host.sent.is_empty() {
            // The segment that is sent instead explains the failure.
            let end = self.time + PATIENCE;
            while self.host.sent.is_empty()
                && let Some(at) = self.host.endpoint.poll_timeout()
                && at.since(self.host.now()) < PATIENCE
                && self.host.elapsed() < end
            {
                let at = self.host.elapsed() + at.since(self.host.now());
                self.host.pass_until(at).map_err(say)?;
            }
        }
        let Some((at, segment)) = self.host.sent.pop_front() else {
            return Err(say(format!(
                "the host sent nothing within {}; expected: {expected}",
                show(PATIENCE)
            )));
        };
        let came = self.peer.judge(&segment, at.as_millis(), expected.flow.as_deref());
        let mut differences = expected.differences(&came);
        if at.abs_diff(self.time) > line.tolerance {
            differences.push(format!("sent at {}, not at {}", show(at), show(self.time)));
        }
        if differences.is_empty() {
            return Ok(());
        }
        let list = differences.join("; ");
        let more = self.describe_sent();
        Err(say(format!("{list}\n  expected > {expected}\n  sent     > {came}{more}")))
    }

    /// Fails if the host has sent a segment that the script lacks.
    fn expect_quiet(&mut self, place: &Place, before: &str) -> Result<(), Fault> {
        let came = self.describe_sent();
        let what = format!("before {before}, the host sent unexpected segments:{came}");
        if came.is_empty() { Ok(()) } else { Err(place.fault(what)) }
    }

    /// The first sent segments that the script has not compared, one per line.
    fn describe_sent(&mut self) -> String {
        let first: Vec<_> = self.host.sent.iter().take(SHOWN).cloned().collect();
        let lines = first.iter().map(|(at, segment)| {
            format!("\n  @{:8} > {}", show(*at), self.peer.judge(segment, at.as_millis(), None))
        });
        let lines: String = lines.collect();
        let more = self.host.sent.len().saturating_sub(SHOWN);
        if more > 0 { format!("{lines}\n  and {more} more") } else { lines }
    }
}
