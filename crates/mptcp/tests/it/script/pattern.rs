//! The format of a segment in scripts.
//!
//! Owns the names, their defaults, and the comparison of expected and received segments. Numbers are relative to the initial
//! sequence numbers. `judge` checks keys and HMACs before.

use std::collections::BTreeMap;
use std::fmt;

use mptcp_wire::{Codepoint, Flags};

use super::text::number;

const FLAGS: [(&str, Flags); 8] = [
    ("SYN", Flags::SYN),
    ("FIN", Flags::FIN),
    ("RST", Flags::RST),
    ("PSH", Flags::PSH),
    ("ACK", Flags::ACK),
    ("URG", Flags::URG),
    ("ECE", Flags::ECE),
    ("CWR", Flags::CWR),
];
const CODEPOINTS: [(&str, Codepoint); 3] =
    [("ect0", Codepoint::Ect0), ("ect1", Codepoint::Ect1), ("ce", Codepoint::Ce)];
/// The options, and whether their arguments have names.
const OPTIONS: [(&str, bool); 16] = [
    ("mss", false),
    ("wscale", false),
    ("sackok", false),
    ("sack", false),
    ("ts", false),
    ("tfo", false),
    ("remove_addr", false),
    ("mp_capable", true),
    ("mp_join", true),
    ("dss", true),
    ("add_addr", true),
    ("mp_prio", true),
    ("mp_fail", true),
    ("mp_fastclose", true),
    ("mp_tcprst", true),
    ("none", false),
];
/// Arguments that are compared only if the script has them.
const IF_ASKED: [(&str, &str); 5] =
    [("ts", ""), ("tfo", ""), ("dss", "ackw"), ("dss", "dsnw"), ("mp_capable", "flags")];
/// The default of an argument.
const DEFAULTS: [(&str, &str, &str); 4] =
    [("mp_join", "id", "0"), ("mp_tcprst", "flags", "0"), ("add_addr", "id", "1"), ("mp_capable", "v", "1")];

/// An option with its arguments. An argument without a name has the empty name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opt {
    pub name: String,
    pub arguments: BTreeMap<String, String>,
}

impl Opt {
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), arguments: BTreeMap::new() }
    }

    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.arguments.insert(name.into(), value.to_string());
        self
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.arguments.contains_key(name)
    }

    /// A number among the arguments.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        let what = || format!("`{name}` of {}", self.name);
        self.get(name).map(|text| number(&what(), text)).transpose()
    }

    fn parse(word: &str) -> Result<Self, String> {
        let (name, arguments) = match word.split_once('(') {
            Some((name, rest)) => (name, rest.trim_end_matches(')')),
            None => (word, ""),
        };
        let Some((_, named)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<_> = OPTIONS.iter().map(|(name, _)| *name).collect();
            return Err(format!("unknown word `{name}` in a segment; options: {}", known.join(", ")));
        };
        let mut option = Self::new(name);
        if !named {
            if !arguments.is_empty() {
                option = option.with("", arguments.trim());
            }
            return Ok(option);
        }
        for argument in arguments.split([' ', ',']).filter(|argument| !argument.is_empty()) {
            let (key, value) = argument.split_once('=').unwrap_or((argument, "yes"));
            option = option.with(key, value);
        }
        Ok(option)
    }

    fn default(&self, argument: &str) -> Option<&'static str> {
        DEFAULTS
            .iter()
            .find(|(name, key, _)| *name == self.name && *key == argument)
            .map(|(_, _, value)| *value)
    }

    /// The difference to a received option, as text.
    fn differences(&self, came: &Self) -> Vec<String> {
        let keys: std::collections::BTreeSet<_> =
            self.arguments.keys().chain(came.arguments.keys()).collect();
        let mut found = Vec::new();
        for key in keys {
            let skipped = IF_ASKED.contains(&(&self.name, key)) && !self.has(key);
            let wanted = self.get(key).or_else(|| self.default(key));
            let is = came.get(key).or_else(|| came.default(key));
            if !skipped && !matches(wanted, is) {
                let say = |value: Option<&str>| value.map_or("nothing".into(), |value| format!("`{value}`"));
                let key = if key.is_empty() { String::new() } else { format!(" {key}") };
                found.push(format!("{}{key} is {}, not {}", self.name, say(is), say(wanted)));
            }
        }
        found
    }
}

/// Whether a value matches; `*` matches any value or any part between `/`.
fn matches(wanted: Option<&str>, is: Option<&str>) -> bool {
    match (wanted, is) {
        (Some("*"), _) => true,
        (Some(wanted), Some(is)) if wanted.contains('/') => {
            let mut parts = is.split('/');
            wanted.split('/').all(|part| parts.next().is_some_and(|is| part == "*" || part == is))
        }
        (wanted, is) => wanted == is,
    }
}

impl fmt::Display for Opt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let words = self.arguments.iter().map(|(key, value)| match (key.as_str(), value.as_str()) {
            ("", value) => value.to_owned(),
            (key, "yes") => key.to_owned(),
            (key, value) => format!("{key}={value}"),
        });
        let words: Vec<_> = words.collect();
        if words.is_empty() { Ok(()) } else { write!(f, "({})", words.join(" ")) }
    }
}

/// A segment.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The name of its subflow; `None` for the first one.
    pub flow: Option<String>,
    pub flags: Flags,
    /// `None` matches any number.
    pub seq: Option<i64>,
    /// `None` matches any number, or the absence of the flag.
    pub ack: Option<i64>,
    /// The field of the header; compared if the script has it.
    pub win: Option<u16>,
    pub len: u32,
    pub urg: u16,
    /// The ECN field of its IP header.
    pub ecn: Codepoint,
    /// The payload differs from the stream.
    pub junk: bool,
    /// A SYN of a new connection on old ports.
    pub fresh: bool,
    pub options: Vec<Opt>,
}

impl Pattern {
    /// Parses the words behind `<` or `>`.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let mut pattern = Self { seq: Some(0), ..Self::default() };
        let mut words = words.iter().map(String::as_str).peekable();
        if let Some(name) = words.peek().and_then(|word| word.strip_prefix('[')) {
            pattern.flow = Some(name.trim_end_matches(']').into());
            words.next();
        }
        let flags = words.next().ok_or("a segment begins with its flags, as in `SYN+ACK`")?;
        for flag in flags.split('+').filter(|flag| *flag != "NONE") {
            let known = FLAGS.iter().find(|(name, _)| *name == flag);
            let (_, bit) = known.ok_or_else(|| {
                format!("unknown flag `{flag}`; expected SYN, ACK, FIN, RST, PSH, URG, ECE, CWR or NONE")
            })?;
            pattern.flags |= *bit;
        }
        let mut seen = Vec::new();
        while let Some(word) = words.next() {
            let mut value = |what: &str| words.next().ok_or_else(|| format!("`{what}` lacks its number"));
            let relative = |what: &str, text: &str| match text {
                "*" => Ok(None),
                text => number(what, text).map(Some),
            };
            seen.push(word);
            match word {
                "seq" => pattern.seq = relative(word, value(word)?)?,
                "ack" => pattern.ack = relative(word, value(word)?)?,
                "win" => pattern.win = Some(number(word, value(word)?)?),
                "len" => pattern.len = number(word, value(word)?)?,
                "urg" => pattern.urg = number(word, value(word)?)?,
                "junk" => pattern.junk = true,
                "fresh" => pattern.fresh = true,
                word if codepoint(word).is_some() => pattern.ecn = codepoint(word).unwrap_or_default(),
                option => pattern.options.push(Opt::parse(option)?),
            }
        }
        if pattern.flags.ack() && !seen.contains(&"ack") {
            return Err("ACK requires `ack NUMBER`".into());
        }
        if !seen.contains(&"seq") {
            return Err("the sequence number is missing: `seq NUMBER`, 0 for a SYN".into());
        }
        pattern.complete();
        Ok(pattern)
    }

    /// Completes a DSS, which maps the payload of its segment by default.
    fn complete(&mut self) {
        let (seq, len) = (self.seq.unwrap_or(0), self.len);
        for option in self.options.iter_mut().filter(|option| option.name == "dss" && option.has("dsn")) {
            let fin = option.has("fin");
            let start = if fin && len == 0 { 0 } else { seq };
            option.arguments.entry("ssn".into()).or_insert_with(|| start.to_string());
            option.arguments.entry("dlen".into()).or_insert_with(|| (len + u32::from(fin)).to_string());
        }
        let data = len > 0 && !self.flags.syn();
        for option in self.options.iter_mut().filter(|option| option.name == "mp_capable" && data) {
            if !option.has("form") {
                option.arguments.entry("dlen".into()).or_insert_with(|| len.to_string());
            }
        }
    }

    /// The differences to a received segment; empty if it matches.
    pub fn differences(&self, came: &Self) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, wanted: String, is: String| {
            if wanted != is {
                found.push(format!("{what} {is}, not {wanted}"));
            }
        };
        if self.flow != came.flow {
            let name = |flow: &Option<String>| flow.clone().unwrap_or_else(|| "the first".into());
            compare("flow", name(&self.flow), name(&came.flow));
        }
        compare("flags", flags(self.flags), flags(came.flags));
        let show = |number: Option<i64>| number.map_or("*".into(), |number| number.to_string());
        if self.seq.is_some() {
            compare("seq", show(self.seq), show(came.seq));
        }
        if self.flags.ack() && self.ack.is_some() {
            compare("ack", show(self.ack), show(came.ack));
        }
        if let Some(win) = self.win {
            compare("win", win.to_string(), came.win.unwrap_or(0).to_string());
        }
        compare("len", self.len.to_string(), came.len.to_string());
        compare("ecn", ecn(self.ecn).into(), ecn(came.ecn).into());
        compare("urg", self.urg.to_string(), came.urg.to_string());
        if self.junk != came.junk {
            found.push("the payload is not that of the stream".into());
        }
        let mut others = came.options.clone();
        for option in &self.options {
            let Some(at) = others.iter().position(|other| other.name == option.name) else {
                found.push(format!("{option} is missing"));
                continue;
            };
            found.extend(option.differences(&others.remove(at)));
        }
        found.extend(others.iter().map(|other| format!("{other} is not expected")));
        found
    }
}

fn codepoint(word: &str) -> Option<Codepoint> {
    CODEPOINTS.iter().find(|(name, _)| *name == word).map(|(_, codepoint)| *codepoint)
}

fn ecn(codepoint: Codepoint) -> &'static str {
    CODEPOINTS.iter().find(|(_, known)| *known == codepoint).map_or("none", |(name, _)| name)
}

fn flags(bits: Flags) -> String {
    let names: Vec<_> =
        FLAGS.iter().filter(|(_, flag)| bits.contains(*flag)).map(|(name, _)| *name).collect();
    if names.is_empty() { "NONE".into() } else { names.join("+") }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(flow) = &self.flow {
            write!(f, "[{flow}] ")?;
        }
        write!(f, "{}", flags(self.flags))?;
        let numbers = [("seq", self.seq), ("ack", self.ack), ("win", self.win.map(i64::from))];
        for (name, number) in numbers {
            if let Some(number) = number {
                write!(f, " {name} {number}")?;
            }
        }
        if self.len > 0 {
            write!(f, " len {}", self.len)?;
        }
        if self.junk {
            f.write_str(" junk")?;
        }
        if self.ecn.is_capable() {
            write!(f, " {}", ecn(self.ecn))?;
        }
        self.options.iter().try_for_each(|option| write!(f, " {option}"))
    }
}
