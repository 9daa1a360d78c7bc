//! Quantities in scenarios: a number and its unit in one string, such as `"10ms"`.
//!
//! Each type parses and prints one quantity. A number without a unit, or an ambiguous unit, is an error,
//! because a wrong guess would change the results of a run.

mod amount;
mod distance;
mod size;
mod span;
mod text;

use std::str::FromStr;

pub use amount::{LineRate, Percent};
pub use distance::Distance;
pub use size::{QueueSize, Size};
pub use span::{Span, TraceStart};
pub use text::UnitError;

/// Checks a string in a schema `format`. `None` if the format is not a quantity.
pub(super) fn check(format: &str, text: &str) -> Option<Result<(), UnitError>> {
    fn read<T: FromStr<Err = UnitError>>(text: &str) -> Option<Result<(), UnitError>> {
        Some(text.parse::<T>().map(|_| ()))
    }
    match format {
        "rate" => read::<LineRate>(text),
        "time" => read::<Span>(text),
        "start" => read::<TraceStart>(text),
        "percent" => read::<Percent>(text),
        "size" => read::<Size>(text),
        "queue" => read::<QueueSize>(text),
        "distance" => read::<Distance>(text),
        _ => None,
    }
}
