//! The table of states: segments, answers and next states.
//!
//! Owns the format of `scripts/states.txt`, and makes a script of each line.

use super::{Script, directory};

/// The states of RFC 9293 in the order of the tables, with {rcv}, {una} and {snd}.
pub const STATES: [(&str, [i64; 3]); 11] = [
    ("closed", [1, 1, 1]),
    ("listen", [1, 1, 1]),
    ("syn-sent", [0, 0, 1]),
    ("syn-received", [1, 0, 1]),
    ("established", [1, 1, 1]),
    ("fin-wait-1", [1, 1, 2]),
    ("fin-wait-2", [1, 2, 2]),
    ("close-wait", [2, 1, 1]),
    ("closing", [2, 1, 2]),
    ("last-ack", [2, 1, 2]),
    ("time-wait", [2, 2, 2]),
];

/// A segment with its rows.
#[derive(Debug, Default)]
pub struct Event {
    /// The title of the table.
    pub name: String,
    pub segment: String,
    pub rfc: String,
    pub section: String,
    pub rows: Vec<Row>,
}

/// The answer in one state.
#[derive(Debug)]
pub struct Row {
    pub line: usize,
    pub state: String,
    /// `None` for no answer.
    pub answer: Option<String>,
    pub after: String,
    /// The reason why the stack differs.
    pub unsupported: Option<String>,
}

/// Reads the table.
pub fn table() -> Vec<Event> {
    let text = std::fs::read_to_string(directory().join("states.txt")).expect("the table of states");
    let mut events: Vec<Event> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let event = events.last_mut();
        match (line.split_once(' '), event) {
            _ if line.is_empty() => {}
            (Some(("segment", name)), _) => events.push(Event { name: name.into(), ..Event::default() }),
            (Some(("in", segment)), Some(event)) => event.segment = segment.into(),
            (Some(("rfc", text)), Some(event)) => {
                let (rfc, section) = text.split_once(' ').expect("an RFC and its section");
                (event.rfc, event.section) = (rfc.into(), section.into());
            }
            (_, Some(event)) => event.rows.push(row(number + 1, line)),
            (_, None) => panic!("states.txt:{}: expected `segment` before this line", number + 1),
        }
    }
    events
}

fn row(line: usize, text: &str) -> Row {
    let cells: Vec<_> = text.split('|').map(str::trim).collect();
    let [state, answer, after, rest @ ..] = cells.as_slice() else {
        panic!("states.txt:{line}: expected STATE | ANSWER | STATE, and a reason if the stack differs");
    };
    let answer = Some((*answer).to_owned()).filter(|answer| answer != "-");
    let unsupported = rest.first().map(|reason| (*reason).to_owned());
    Row { line, state: (*state).into(), answer, after: (*after).into(), unsupported }
}

/// Replaces the names of numbers by those of a state.
pub fn fill(text: &str, numbers: [i64; 3]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').expect("a name ends with }");
        let sign = name.find(['+', '-']).unwrap_or(name.len());
        let place = ["rcv", "una", "snd"].iter().position(|known| *known == &name[..sign]);
        let more: i64 = name[sign..].parse().unwrap_or(0);
        let number = numbers[place.expect("rcv, una or snd")] + more;
        filled += &format!("{before}{number}");
        rest = after;
    }
    filled + rest
}

/// Runs a line; the error says how the stack differs.
pub fn run(event: &Event, row: &Row) -> Result<(), String> {
    let numbers = STATES.iter().find(|(name, _)| *name == row.state);
    let (_, numbers) =
        numbers.ok_or_else(|| format!("states.txt:{}: unknown state `{}`", row.line, row.state))?;
    let mut text = format!("rfc {} {}\nrule {}\nstack tcp\n", event.rfc, event.section, event.name);
    text += &format!("begin state-{}\n< {}\n", row.state, fill(&event.segment, *numbers));
    if let Some(answer) = &row.answer {
        text += &format!("> {}\n", fill(answer, *numbers));
    }
    text += &format!("= state {}\n", row.after);
    let name = format!("states.txt:{} ({}, {})", row.line, row.state, event.name);
    let script =
        Script::parse(&name, &text, &directory().join("begin")).map_err(|fault| fault.to_string())?;
    match (script.run(), &row.unsupported) {
        (Ok(()), None) | (Err(_), Some(_)) => Ok(()),
        (Err(fault), None) => Err(fault.to_string()),
        (Ok(()), Some(_)) => Err(format!("{name}: it passes now; remove the reason")),
    }
}
