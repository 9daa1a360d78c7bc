//! The built-in policies by name: congestion controllers, schedulers and path managers.
//!
//! Owns the list: a new policy needs its own file and one line here. Scenario files, commands, reference
//! pages and Python read names and descriptions from this list. Never implements a policy.

use mptcp_clock::Duration;

use crate::congestion::controllers::tuned::BETA;
use crate::congestion::{
    Balia, Bbr, Bbr3, CongestionControl, Coupled, CoupledBbr, Cubic, Dctcp, Ewtcp, KellyVoice, Lia,
    LinuxCubic, Olia, Reno, Tuned, WVegas, Xmp,
};
use crate::path_manager::{Endpoint, EndpointLimits, FullMesh, Kernel, NdiffPorts, PathManager};
use crate::policy::{Factory, ParameterError, Parameters, Policies, Registry};
use crate::scheduler::{
    Blest, Daps, Ecf, Linux, MaxRtt, MinRtt, OnTime, OpportunisticRedundant, Otias, Priority, Redundant,
    RoundRobin, Scheduler, Sttf, WeightedRoundRobin, Weights,
};

/// Maximum of a weight or slot in a list. A turn of that many segments lasts longer than any window.
const MAX_LISTED: u64 = 1_000_000;
/// Maximum number of subflows of `ndiffports`, and of each limit of `kernel`.
const MAX_PORTS: u64 = 8;

impl Default for Policies {
    fn default() -> Self {
        Self { congestion: congestion(), schedulers: schedulers(), path_managers: path_managers() }
    }
}

/// The built-in congestion controllers.
fn congestion() -> Registry<dyn CongestionControl> {
    Registry::new("congestion controller")
        .with("reno", "NewReno (RFC 5681), independent per subflow; `beta`: window after a loss as a fraction (0.5)", |values| {
            let beta = beta(values)?;
            Ok(if beta == BETA { Reno.into() } else { Tuned::reno(beta).into() })
        })
        .with(
            "cubic",
            "CUBIC (RFC 9438), independent per subflow; `as = \"linux\"`: kernel arithmetic with `hertz` ticks per second",
            cubic,
        )
        .with("lia", "Linked increases, coupled (RFC 6356); `alpha_scale` multiplies alpha (1), `beta` as in reno", lia)
        .with("olia", "Opportunistic linked increases, coupled (Khalili et al., CoNEXT 2012)", |_| {
            Ok(Olia::default().into())
        })
        .with("balia", "Balanced linked adaptation, coupled (Peng et al., 2016)", |_| Ok(Balia.into()))
        .with("wvegas", "Weighted Vegas, coupled and delay-based (Cao et al., ICNP 2012)", |_| {
            Ok(WVegas::default().into())
        })
        .with(
            "ewtcp",
            "Equally-weighted TCP (Honda et al., PFLDNeT 2009): weight n^-`exponent` for n subflows (2)",
            |values| Ok(Ewtcp::new(values.number("exponent", 2.0, 0.0..=2.0)?).into()),
        )
        .with("coupled", "COUPLED, fully coupled (Wischik et al., NSDI 2011)", |_| Ok(Coupled.into()))
        .with(
            "kelly-voice",
            "Kelly and Voice (CCR 2005), scalable and coupled; `a` segments per acknowledgement (0.01), `b` per loss (0.125)",
            |values| {
                let increase = values.number("a", KellyVoice::INCREASE, 0.001..=1.0)?;
                Ok(KellyVoice::new(increase, values.number("b", KellyVoice::DECREASE, 0.01..=1.0)?).into())
            },
        )
        .with(
            "xmp",
            "XMP for data centres, coupled, which reacts to ECN marks (Cao et al., CoNEXT 2013); `beta` (4)",
            |values| Ok(Xmp::new(values.number("beta", Xmp::BETA, 2.0..=16.0)?).into()),
        )
        .with("dctcp", "DCTCP (RFC 8257), independent per subflow, which reacts to ECN marks", |_| {
            Ok(Dctcp::default().into())
        })
        .with("bbr", "BBR version 1 (Cardwell et al., 2016), independent per subflow", |_| Ok(Bbr::default().into()))
        .with("bbr3", "BBR version 3 (draft-ietf-ccwg-bbr), independent per subflow", |_| Ok(Bbr3::default().into()))
        .with("coupled-bbr", "C-MPBBR, BBR version 1 coupled (Mahmud et al., IEEE Access 2020)", |_| {
            Ok(CoupledBbr::default().into())
        })
}

/// `lia` with `alpha_scale`, 0.01 to 100, and `beta`. The values of RFC 6356 give plain LIA.
fn lia(values: &mut Parameters) -> Result<Factory<dyn CongestionControl>, ParameterError> {
    let scale = values.number("alpha_scale", 1.0, 0.01..=100.0)?;
    let beta = beta(values)?;
    Ok(if (scale, beta) == (1.0, BETA) { Lia.into() } else { Tuned::lia(scale, beta).into() })
}

/// `beta`, 0.05 to 0.95: the fraction of the window that remains after a loss.
fn beta(values: &mut Parameters) -> Result<f64, ParameterError> {
    values.number("beta", BETA, 0.05..=0.95)
}

/// `cubic` with `as`, `"rfc9438"` or `"linux"`; the latter has `hertz`, 1 to 1000.
fn cubic(values: &mut Parameters) -> Result<Factory<dyn CongestionControl>, ParameterError> {
    match values.text("as")?.as_deref() {
        None | Some("rfc9438") => Ok(Cubic::default().into()),
        Some("linux") => Ok(LinuxCubic::new(values.count("hertz", 1000, 1..=1000)? as u32).into()),
        Some(_) => {
            Err(ParameterError { key: "as".into(), problem: "expected \"rfc9438\" or \"linux\"".into() })
        }
    }
}

/// The built-in schedulers.
fn schedulers() -> Registry<dyn Scheduler> {
    Registry::new("scheduler")
        .with(
            "ontime",
            "Path with the earliest arrival first; slower paths only if they delay no other data",
            |_| Ok(OnTime::default().into()),
        )
        .with("minrtt", "Subflow with the lowest RTT first, while its congestion window is open", |_| {
            Ok(MinRtt.into())
        })
        .with("maxrtt", "Subflow with the highest RTT first, the opposite of minrtt, for experiments", |_| {
            Ok(MaxRtt.into())
        })
        .with(
            "linux",
            "The scheduler of Linux: bursts of 64 KiB to the subflow whose queue would drain first",
            |_| Ok(Linux::default().into()),
        )
        .with("roundrobin", "One segment per subflow in turn", |_| Ok(RoundRobin::default().into()))
        .with("redundant", "All data on every subflow", |_| Ok(Redundant.into()))
        .with(
            "opportunistic-redundant",
            "Each segment on all subflows with an open window at its first transmission (Frömmgen et al., Middleware 2017)",
            |_| Ok(OpportunisticRedundant.into()),
        )
        .with(
            "weighted-roundrobin",
            "`weights` segments per subflow in turn (\"3,1\" or \"cwnd\", default \"1\"), waiting for full subflows if `strict` (false)",
            weighted,
        )
        .with(
            "priority",
            "First subflow of `order` with an open window (\"0,1\"; default: order of creation)",
            |values| Ok(Priority::strict(numbers(values, "order", "", 0)?).into()),
        )
        .with(
            "backup",
            "First subflow of `order` that works, others as its backups (RFC 8684, section 3.3.8)",
            |values| Ok(Priority::backup(numbers(values, "order", "", 0)?).into()),
        )
        .with(
            "blest",
            "Blocking estimation (Ferlin et al., IFIP Networking 2016); `delta`: step of its correction (0.01)",
            |values| Ok(Blest::new(values.number("delta", 0.01, 0.001..=0.02)?).into()),
        )
        .with("ecf", "Earliest completion first (Lim et al., CoNEXT 2017); `beta`: hysteresis of waiting (0.25)", |values| {
            Ok(Ecf::new(values.number("beta", 0.25, 0.0..=1.0)?).into())
        })
        .with(
            "daps",
            "Delay-aware packet scheduling (Kuhn et al., ICC 2014); `rounding` of delays in milliseconds (4)",
            |values| Ok(Daps::new(Duration::from_millis(values.count("rounding", 4, 1..=100)?)).into()),
        )
        .with("otias", "Out-of-order transmission for in-order arrival (Yang et al., GLOBECOM 2014)", |_| {
            Ok(Otias.into())
        })
        .with("sttf", "Shortest transfer time first (Hurtig et al., ToN 2019)", |_| Ok(Sttf.into()))
}

/// `weighted-roundrobin` with `weights`, segments per turn by the order of the subflows or `"cwnd"`, and `strict`.
fn weighted(values: &mut Parameters) -> Result<Factory<dyn Scheduler>, ParameterError> {
    let weights = match values.text("weights")?.as_deref() {
        Some("cwnd") => Weights::Window,
        _ => Weights::BySlot(numbers(values, "weights", "1", 1)?),
    };
    Ok(WeightedRoundRobin::new(weights, values.flag("strict", false)?).into())
}

/// A list of whole numbers from `min` to [`MAX_LISTED`], separated by commas.
fn numbers(values: &mut Parameters, key: &str, default: &str, min: u64) -> Result<Vec<u64>, ParameterError> {
    let text = values.text(key)?.unwrap_or_else(|| default.into());
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let number = |part: &str| part.parse().ok().filter(|number| (min..=MAX_LISTED).contains(number));
    let listed: Option<Vec<u64>> = parts.map(number).collect();
    listed.filter(|list| default.is_empty() || !list.is_empty()).ok_or_else(|| ParameterError {
        key: key.into(),
        problem: format!(
            "expected whole numbers from {min} to {MAX_LISTED}, separated by commas, not \"{text}\""
        ),
    })
}

/// The built-in path managers.
fn path_managers() -> Registry<dyn PathManager> {
    Registry::new("path manager")
        .with("fullmesh", "One subflow between each local and each remote address", |_| Ok(FullMesh.into()))
        .with(
            "ndiffports",
            "Several subflows between the same addresses, with different ports",
            |parameters| {
                let subflows = parameters.count("subflows", 2, 1..=MAX_PORTS)?;
                Ok(NdiffPorts { subflows: subflows as u8 }.into())
            },
        )
        .with(
            "kernel",
            "That of Linux: `endpoints` (\"dev 1 subflow backup, any fullmesh\"), limits `subflows` (2), `add_addr_accepted` (0)",
            kernel,
        )
}

/// `kernel` with `endpoints` in the words of `ip mptcp endpoint`, and the limits of `ip mptcp limits`, 0 to 8.
fn kernel(values: &mut Parameters) -> Result<Factory<dyn PathManager>, ParameterError> {
    let endpoints = Endpoint::parse_all(&values.text("endpoints")?.unwrap_or_default())
        .map_err(|problem| ParameterError { key: "endpoints".into(), problem })?;
    let limits = EndpointLimits {
        subflows: values.count("subflows", 2, 0..=MAX_PORTS)? as usize,
        add_addr_accepted: values.count("add_addr_accepted", 0, 0..=MAX_PORTS)? as usize,
    };
    Ok(Kernel::new(endpoints, limits).into())
}
