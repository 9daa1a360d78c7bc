//! The congestion control algorithms: one file each.
//!
//! Owns no code. `jitter`, `pace` and `windowed_max` are shared by several algorithms.

pub(crate) mod balia;
pub(crate) mod bbr;
pub(crate) mod bbr3;
pub(crate) mod coupled;
pub(crate) mod coupled_bbr;
pub(crate) mod cubic;
pub(crate) mod dctcp;
pub(crate) mod ewtcp;
pub(crate) mod jitter;
pub(crate) mod kelly_voice;
pub(crate) mod lia;
pub(crate) mod linux_cubic;
pub(crate) mod olia;
pub(crate) mod pace;
pub(crate) mod reno;
pub(crate) mod tuned;
pub(crate) mod windowed_max;
pub(crate) mod wvegas;
pub(crate) mod xmp;
