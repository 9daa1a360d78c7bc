//! A malicious peer against an endpoint with budgets.

mod attacks;
mod corpus;
mod found;
mod random;
mod soak;
