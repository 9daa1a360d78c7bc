//! A table of events with a limited number of rows.
//!
//! Drivers collect events in it, and then write the columns to result files. Owns the columns and the count
//! of dropped rows. Never interprets a row, which holds only names and numbers.

use mptcp_clock::Instant;

/// Missing number in [`Row::numbers`].
pub const NOTHING: u64 = u64::MAX;

/// A row. Hosts, flows and paths are numbers chosen by the driver; `u16::MAX` for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Time of the event.
    pub at: Instant,
    /// Number of the host.
    pub host: u16,
    /// Number of the flow.
    pub flow: u16,
    /// Number of the path.
    pub path: u16,
    /// Number of the subflow in its connection.
    pub subflow: u16,
    /// Type of the event.
    pub kind: &'static str,
    /// Subtype or reason.
    pub what: &'static str,
    /// Number of another path that is involved.
    pub other: u16,
    /// Numbers of the event; [`NOTHING`] if missing.
    pub numbers: [u64; 3],
}

impl Row {
    /// Missing host, flow or path.
    pub const NOWHERE: u16 = u16::MAX;
    /// Converts a number to a column value; [`Self::NOWHERE`] if it is too large.
    #[must_use]
    pub const fn place(number: u64) -> u16 {
        if number < Self::NOWHERE as u64 { number as u16 } else { Self::NOWHERE }
    }

    /// Size of a row, bytes.
    pub const BYTES: u64 = 8 + 5 * 2 + 2 + 24;
}

/// Rows in columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the columns are the fields of Row")]
pub struct Columns {
    /// Time of the event, nanoseconds.
    pub at: Vec<u64>,
    pub host: Vec<u16>,
    pub flow: Vec<u16>,
    pub path: Vec<u16>,
    pub subflow: Vec<u16>,
    /// Index into [`Columns::words`].
    pub kind: Vec<u8>,
    /// Index into [`Columns::words`].
    pub what: Vec<u8>,
    pub other: Vec<u16>,
    pub numbers: [Vec<u64>; 3],
    /// Names to which `kind` and `what` refer.
    pub words: Vec<&'static str>,
    /// Number of rows dropped at the limit.
    pub dropped: u64,
}

impl Columns {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Sorts the rows by time; rows of the same time keep their order.
    pub fn sort(&mut self) {
        if self.at.is_sorted() {
            return;
        }
        let mut order: Vec<u32> = (0..self.at.len() as u32).collect();
        order.sort_by_key(|&at| self.at[at as usize]);
        reorder(&mut self.at, &order);
        for column in [&mut self.host, &mut self.flow, &mut self.path, &mut self.subflow, &mut self.other] {
            reorder(column, &order);
        }
        reorder(&mut self.kind, &order);
        reorder(&mut self.what, &order);
        self.numbers.iter_mut().for_each(|column| reorder(column, &order));
    }

    fn word(&mut self, word: &'static str) -> u8 {
        let known = self.words.iter().position(|known| std::ptr::eq(*known, word) || *known == word);
        // At most 256 names are supported; about 60 exist.
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

fn reorder<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
    *column = order.iter().map(|&at| column[at as usize]).collect();
}

/// A table of events with a limited number of rows.
#[derive(Clone, Debug)]
pub struct Log {
    columns: Columns,
    limit: u64,
}

impl Log {
    /// Creates a table for at most `limit` rows.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { columns: Columns::default(), limit }
    }

    /// Adds a row, or counts it as dropped at the limit.
    pub fn push(&mut self, row: &Row) {
        if self.columns.at.len() as u64 >= self.limit {
            self.columns.dropped += 1;
        } else {
            self.columns.push(row);
        }
    }

    /// Removes and returns all rows.
    pub fn take(&mut self) -> Columns {
        std::mem::take(&mut self.columns)
    }

    /// Number of stored rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether no rows are stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}
