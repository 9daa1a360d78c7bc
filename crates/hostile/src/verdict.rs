//! Runs a case, a random attack, and returns a failed check as text. Shrinks a failing case to its essential
//! bytes.
//!
//! Owns the catching of panics and the classes of failures. Two failures of a class differ only in numbers.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::arena::{self, Report};
use crate::budget::Budget;

thread_local! {
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Silences panics and records their places for [`of`]. For programs that run many cases.
pub fn keep_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
            PLACE.with_borrow_mut(|kept| *kept = place.unwrap_or_default());
        }));
    });
}

/// Runs a case.
///
/// # Errors
/// The message of the failed check and its place in the source.
pub fn of(bytes: &[u8], budget: &Budget) -> Result<Report, String> {
    panic::catch_unwind(AssertUnwindSafe(|| arena::judge(bytes, budget))).map_err(|why| {
        let text = why.downcast_ref::<String>().cloned();
        let text = text.or_else(|| why.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        text.unwrap_or_default() + &PLACE.with_borrow(Clone::clone)
    })
}

/// The class of a failure: the start of its message without numbers, and its place.
#[must_use]
pub fn class(words: &str) -> String {
    let mut class = String::new();
    let place = words.rfind(" (crates").unwrap_or(words.len());
    let report = words.find(", Report").unwrap_or(place).min(place);
    for letter in words[..report].chars().take(90).chain(words[place..].chars()) {
        match letter {
            '0'..='9' if class.ends_with('N') => {}
            '0'..='9' => class.push('N'),
            other => class.push(other),
        }
    }
    class
}

/// A smaller case with a failure of the same class. Removes pieces and zeroes bytes in at most `tries` runs.
#[must_use]
pub fn shrink(bytes: &[u8], budget: &Budget, tries: u32) -> Vec<u8> {
    let Err(words) = of(bytes, budget) else { return bytes.to_vec() };
    let (wanted, mut best, mut left) = (class(&words), bytes.to_vec(), tries);
    let mut fails = |candidate: &[u8]| {
        left = left.saturating_sub(1);
        left > 0 && of(candidate, budget).is_err_and(|words| class(&words) == wanted)
    };
    let mut size = best.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < best.len() {
            let end = (at + size).min(best.len());
            let shorter = [&best[..at], &best[end..]].concat();
            if fails(&shorter) {
                best = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    for at in 0..best.len() {
        let mut zeroed = best.clone();
        if std::mem::take(&mut zeroed[at]) != 0 && fails(&zeroed) {
            best = zeroed;
        }
    }
    best
}
