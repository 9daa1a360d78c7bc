//! Functions whose results are the same bits on every platform.
//!
//! The standard library calls the mathematical library of the platform for them, and these differ in the last bit. A
//! difference of one bit changes a run. `sqrt`, `+`, `-`, `*` and `/` need no replacement (IEEE 754).

/// The natural logarithm.
#[must_use]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// The logarithm to base 10.
#[must_use]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// e to the power of `x`.
#[must_use]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// 2 to the power of `x`.
#[must_use]
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// `x` to the power of `y`.
#[must_use]
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}
