//! Congestion control for all paths of a connection.
//!
//! Owns the congestion windows in [`Path`], and the algorithms that set them. An algorithm sees all paths of
//! the connection, so coupled and uncoupled algorithms have the same interface. Never detects losses: the
//! subflow does.

mod bottleneck;
mod control;
pub(crate) mod controllers;
mod linked_pacing;
mod marks;
mod sample;
mod send_queue;
mod slow_start;
mod westwood;
mod windows;

pub use crate::congestion::control::{Acked, CongestionControl};
pub use crate::congestion::controllers::balia::Balia;
pub use crate::congestion::controllers::bbr::Bbr;
pub use crate::congestion::controllers::bbr3::Bbr3;
pub use crate::congestion::controllers::coupled::Coupled;
pub use crate::congestion::controllers::coupled_bbr::CoupledBbr;
pub use crate::congestion::controllers::cubic::Cubic;
pub use crate::congestion::controllers::dctcp::Dctcp;
pub use crate::congestion::controllers::ewtcp::Ewtcp;
pub use crate::congestion::controllers::kelly_voice::KellyVoice;
pub use crate::congestion::controllers::lia::Lia;
pub use crate::congestion::controllers::linux_cubic::LinuxCubic;
pub use crate::congestion::controllers::olia::Olia;
pub use crate::congestion::controllers::reno::Reno;
pub use crate::congestion::controllers::tuned::Tuned;
pub use crate::congestion::controllers::wvegas::WVegas;
pub use crate::congestion::controllers::xmp::Xmp;
pub use crate::congestion::linked_pacing::Linked;
pub use crate::congestion::marks::{Echoed, Mark};
pub use crate::congestion::sample::{Lost, Repair, Sample};
pub use crate::congestion::send_queue::SendQueueRule;
pub(crate) use crate::congestion::slow_start::Round;
pub use crate::congestion::slow_start::SlowStart;
pub use crate::congestion::windows::{Congestion, CouplingScope, PenaltyRule};
pub use crate::path::{Departure, LocalQueue, Path};
