//! A script runs: its lines in order, in virtual time.
//!
//! Owns the order of time: timers that are due come before a line of the same moment, and whatever the host sends has to
//! stand in the script before the peer or the application acts again. Nothing here reads a clock.

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

/// How long is waited for a segment that did not come, to say what came in its place.
const PATIENCE: Duration = Duration::from_secs(300);

/// How many segments that were not expected are shown.
const SHOWN: usize = 12;

/// What the head of a script says.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Numbers of the RFC and its section.
    pub rfc: String,
    pub section: String,
    /// The rule, in one or two sentences.
    pub rule: String,
    /// The reason why the stack does not implement the rule.
    pub unsupported: Option<String>,
}

/// A script and where others lie that it begins with.
#[derive(Debug)]
pub struct Script {
    pub head: Head,
    lines: Vec<Line>,
    /// Directory of the beginnings.
    begins: PathBuf,
}

struct Stage {
    host: Host,
    peer: Peer,
    application: Application,
    config: Option<Config>,
    /// Something happened: settings come too late.
    begun: bool,
    time: Duration,
}

impl Script {
    /// Reads a script; `name` stands in what is said of it.
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
                "rfc" => return Err(line.place.fault("an RFC and its section: `rfc 9293 3.5`")),
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

    /// Runs it to its end.
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
                    return Err(line.place.fault("one beginning: `begin NAME`"));
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
                let address = address.parse().map_err(|_| say(format!("`{address}` is no address")))?;
                self.host.add_interface(address, *rest == ["backup"]);
                return Ok(());
            }
            _ => {}
        }
        self.begun = true;
        self.time = match line.when {
            When::After(span) => self.time + span,
            When::At(time) if time < self.time => {
                return Err(say(format!("{} is past: it is {} here", show(time), show(self.time))));
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

    /// The next segment of the host has to be this one, now.
    fn expect(&mut self, line: &Line) -> Result<(), Fault> {
        let say = |what: String| line.place.fault(what);
        let expected = Pattern::parse(&line.words[1..]).map_err(say)?;
        if self.host.sent.is_empty() {
            // What comes instead helps whoever reads.
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
            return Err(say(format!("nothing came, not even in {}; expected: {expected}", show(PATIENCE))));
        };
        let came = self.peer.judge(&segment, at.as_millis(), expected.flow.as_deref());
        let mut differences = expected.differences(&came);
        if at.abs_diff(self.time) > line.tolerance {
            differences.push(format!("it came at {}, not at {}", show(at), show(self.time)));
        }
        if differences.is_empty() {
            return Ok(());
        }
        let list = differences.join("; ");
        let more = self.describe_sent();
        Err(say(format!("{list}\n  expected > {expected}\n  came     > {came}{more}")))
    }

    /// Nothing may have been sent that the script has not.
    fn expect_quiet(&mut self, place: &Place, before: &str) -> Result<(), Fault> {
        let came = self.describe_sent();
        let what = format!("before {before}, the host sent what the script does not expect:{came}");
        if came.is_empty() { Ok(()) } else { Err(place.fault(what)) }
    }

    /// What was sent and not looked at yet, the first segments of it, one on a line.
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
