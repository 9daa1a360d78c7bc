//! Events in columns, as many as a limit lets in.
//!
//! Owns the columns and the count of what found no room. Knows no protocol: a row is words and numbers.

use mptcp_clock::Instant;

/// No number, in [`Row::numbers`].
pub const NOTHING: u64 = u64::MAX;

/// A row. Places are numbers of the driver's own; `u16::MAX` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When.
    pub at: Instant,
    /// At which host.
    pub host: u16,
    /// On which flow.
    pub flow: u16,
    /// On which path.
    pub path: u16,
    /// Which subflow of its connection.
    pub subflow: u16,
    /// Its kind.
    pub kind: &'static str,
    /// More of it.
    pub what: &'static str,
    /// Another path that has to do with it.
    pub other: u16,
    /// Its numbers; [`NOTHING`] where there is none.
    pub numbers: [u64; 3],
}

impl Row {
    /// No place.
    pub const NOWHERE: u16 = u16::MAX;
    /// A number as a place; one beyond what a column holds is [`Self::NOWHERE`].
    #[must_use]
    pub const fn place(number: u64) -> u16 {
        if number < Self::NOWHERE as u64 { number as u16 } else { Self::NOWHERE }
    }

    /// What a row takes, bytes.
    pub const BYTES: u64 = 8 + 5 * 2 + 2 + 24;
}

/// Rows in columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the columns are the fields of Row")]
pub struct Columns {
    /// Nanoseconds.
    pub at: Vec<u64>,
    pub host: Vec<u16>,
    pub flow: Vec<u16>,
    pub path: Vec<u16>,
    pub subflow: Vec<u16>,
    /// By its place in [`Columns::words`].
    pub kind: Vec<u8>,
    /// By its place in [`Columns::words`].
    pub what: Vec<u8>,
    pub other: Vec<u16>,
    pub numbers: [Vec<u64>; 3],
    /// The words that `kind` and `what` count into.
    pub words: Vec<&'static str>,
    /// Rows that found no room.
    pub dropped: u64,
}

impl Columns {
    /// How many rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// By time; those of one instant stay in the order in which they came.
    pub fn sort(&mut self) {
        if self.at.is_sorted() {
            return;
        }
        let mut order: Vec<u32> = (0..self.at.len() as u32).collect();
        order.sort_by_key(|&at| self.at[at as usize]);
        put_in_order(&mut self.at, &order);
        for column in [&mut self.host, &mut self.flow, &mut self.path, &mut self.subflow, &mut self.other] {
            put_in_order(column, &order);
        }
        put_in_order(&mut self.kind, &order);
        put_in_order(&mut self.what, &order);
        self.numbers.iter_mut().for_each(|column| put_in_order(column, &order));
    }

    fn word(&mut self, word: &'static str) -> u8 {
        let known = self.words.iter().position(|known| std::ptr::eq(*known, word) || *known == word);
        // There are some sixty words; beyond 256 they would be one.
        known.unwrap_or_else(|| {
            self.words.push(word);
            self.words.len() - 1
        }) as u8
    }

    fn push(&mut self, row: &Row) {
        let (kind, what) = (self.word(row.kind), self.word(row.what));
        self.at.push(row.at.as_nanos());
        self.host.push(row.host);
        self.flow.push(row.flow);
        self.path.push(row.path);
        self.subflow.push(row.subflow);
        self.kind.push(kind);
        self.what.push(what);
        self.other.push(row.other);
        for (column, number) in self.numbers.iter_mut().zip(row.numbers) {
            column.push(number);
        }
    }
}

fn put_in_order<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
    *column = order.iter().map(|&at| column[at as usize]).collect();
}

/// A bounded list of rows.
#[derive(Clone, Debug)]
pub struct Log {
    columns: Columns,
    limit: u64,
}

impl Log {
    /// With room for `limit` rows.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { columns: Columns::default(), limit }
    }

    /// Adds a row, or counts it where there is no room.
    pub fn push(&mut self, row: &Row) {
        if self.columns.at.len() as u64 >= self.limit {
            self.columns.dropped += 1;
        } else {
            self.columns.push(row);
        }
    }

    /// What there is; the log goes on empty, with all its room.
    pub fn take(&mut self) -> Columns {
        std::mem::take(&mut self.columns)
    }

    /// Rows that wait to be taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}
