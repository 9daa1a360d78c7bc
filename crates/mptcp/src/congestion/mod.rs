//! Congestion control for all paths of a connection.
//!
//! Owns the windows ([`PathState`]) and the algorithms that move them. An algorithm sees every
//! sibling path, so coupled and uncoupled ones have one shape. Never decides what is lost: the
//! subflow does, and tells.

mod bottleneck;
mod control;
mod controllers;
mod linked_pacing;
mod local;
mod marks;
mod sample;
mod send_queue;
mod slow_start;
mod westwood;
mod windows;

pub use crate::congestion::control::{Acked, CongestionControl, PathState};
pub use crate::congestion::controllers::balia::Balia;
pub use crate::congestion::controllers::bbr::Bbr;
pub use crate::congestion::controllers::bbr3::Bbr3;
pub use crate::congestion::controllers::cubic::Cubic;
pub use crate::congestion::controllers::dctcp::Dctcp;
pub use crate::congestion::controllers::lia::Lia;
pub use crate::congestion::controllers::linux_cubic::LinuxCubic;
pub use crate::congestion::controllers::olia::Olia;
pub use crate::congestion::controllers::reno::Reno;
pub use crate::congestion::controllers::tuned::Tuned;
pub use crate::congestion::controllers::wvegas::WVegas;
pub use crate::congestion::linked_pacing::Linked;
pub use crate::congestion::local::{Departure, LocalQueue};
pub use crate::congestion::marks::{Echoed, Mark};
pub use crate::congestion::sample::{Lost, Repair, Sample};
pub use crate::congestion::send_queue::SendQueueRule;
pub(crate) use crate::congestion::slow_start::Round;
pub use crate::congestion::slow_start::SlowStart;
pub use crate::congestion::windows::{Congestion, CouplingScope, PenaltyRule};
use crate::policy::{Factory, ParameterError, Parameters, Registry};

/// The built-in algorithms.
pub(crate) fn built_in() -> Registry<dyn CongestionControl> {
    Registry::new("congestion controller")
        .with("reno", "NewReno on each subflow by itself (RFC 5681); `beta`: the part of the window that a loss leaves (0.5)", |values| {
            let beta = beta(values)?;
            Ok(if beta == crate::congestion::controllers::tuned::BETA { Reno.into() } else { Tuned::reno(beta).into() })
        })
        .with(
            "cubic",
            "CUBIC on each subflow by itself (RFC 9438); `as = \"linux\"`: as the kernel computes it, at `hertz` ticks a second",
            cubic,
        )
        .with("lia", "Linked increases over all subflows (RFC 6356); `alpha_scale` multiplies alpha (1), `beta` as in reno", lia)
        .with("olia", "Opportunistic linked increases (Khalili et al., CoNEXT 2012)", |_| {
            Ok(Olia::default().into())
        })
        .with("balia", "Balanced linked adaptation (Peng et al., 2016)", |_| Ok(Balia.into()))
        .with("wvegas", "Weighted Vegas, which answers to delay (Cao et al., ICNP 2012)", |_| {
            Ok(WVegas::default().into())
        })
        .with("dctcp", "DCTCP on each subflow by itself, which answers to marks (RFC 8257)", |_| {
            Ok(Dctcp::default().into())
        })
        .with("bbr", "BBR version 1 on each subflow by itself (Cardwell et al., 2016)", |_| Ok(Bbr::default().into()))
        .with("bbr3", "BBR version 3 on each subflow by itself (draft-ietf-ccwg-bbr)", |_| Ok(Bbr3::default().into()))
}

/// `alpha_scale`, 0.01 to 100, and `beta`. RFC 6356's own are LIA itself.
fn lia(values: &mut Parameters) -> Result<Factory<dyn CongestionControl>, ParameterError> {
    let scale = values.number("alpha_scale", 1.0, 0.01..=100.0)?;
    let beta = beta(values)?;
    Ok(if (scale, beta) == (1.0, crate::congestion::controllers::tuned::BETA) {
        Lia.into()
    } else {
        Tuned::lia(scale, beta).into()
    })
}

/// `beta`, the part of the window that a loss leaves, 0.05 to 0.95.
fn beta(values: &mut Parameters) -> Result<f64, ParameterError> {
    values.number("beta", crate::congestion::controllers::tuned::BETA, 0.05..=0.95)
}

/// `as`, `"rfc9438"` or `"linux"`, and for the latter `hertz`, 1 to 1000.
fn cubic(values: &mut Parameters) -> Result<Factory<dyn CongestionControl>, ParameterError> {
    match values.text("as")?.as_deref() {
        None | Some("rfc9438") => Ok(Cubic::default().into()),
        Some("linux") => Ok(LinuxCubic::new(values.count("hertz", 1000, 1..=1000)? as u32).into()),
        Some(_) => {
            Err(ParameterError { key: "as".into(), problem: "\"rfc9438\" or \"linux\" is wanted".into() })
        }
    }
}
