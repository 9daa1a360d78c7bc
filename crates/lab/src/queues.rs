//! Queue disciplines in scenarios: `queue = { kind = "fq_codel", target = "5ms" }` of a path or link.
//!
//! Owns the keys of the disciplines, with the names and defaults of `tc`, so that a `tc` configuration can be
//! simulated. `netsim` implements the disciplines.

use std::sync::Arc;

use mptcp_clock::Duration;
use netsim::{
    By, CoDel, CoDelQueue, DualPi2, DualPi2Queue, Excess, FqCoDel, FqCoDelQueue, Pie, PieQueue, Prio,
    PrioQueue, QueueDiscipline, QueueLimit, Rate, Red, RedQueue, RoundRobin, RoundRobinQueue, TokenBucket,
    TokenBucketQueue,
};

use crate::classes::classes_of;
use crate::scenario::ScenarioError;
use crate::scenario::error::must_be_between;
use crate::scenario::is_called;
use crate::scenario::kinds::Kind;
use crate::scenario::parameters::Parameters;
use crate::scenario::units::QueueSize;

/// A factory of a discipline for one direction.
pub(crate) type Make = Arc<dyn Fn() -> Box<dyn QueueDiscipline> + Send + Sync>;
/// Creates the factory for one link direction, or returns the problem.
pub(crate) type Maker = Arc<dyn Fn(&Place<'_>) -> Result<Make, String> + Send + Sync>;

/// The properties of a link direction that a queue discipline may need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// Names of all flows, in the order of the scenario.
    pub(crate) flows: &'a [String],
    /// Maximum frame length of the link, bytes.
    pub(crate) frame: u32,
}

/// A maker for disciplines that do not depend on their link direction.
pub(crate) fn maker<D: QueueDiscipline + 'static>(make: impl Fn() -> D + Send + Sync + 'static) -> Maker {
    let make: Make = Arc::new(move || Box::new(make()));
    Arc::new(move |_| Ok(make.clone()))
}

/// A maker for disciplines that need the frame length.
fn framed<D: QueueDiscipline + 'static>(make: impl Fn(u32) -> D + Send + Sync + 'static) -> Maker {
    let make = Arc::new(make);
    Arc::new(move |place| {
        let (make, frame) = (make.clone(), place.frame);
        Ok(Arc::new(move || Box::new(make(frame))))
    })
}

/// Whether the discipline that a table names is built in.
pub(crate) fn is_built_in(table: &toml::Table) -> bool {
    let named = table.get("kind").and_then(toml::Value::as_str);
    kinds().iter().any(|kind| Some(&*kind.name) == named)
}

/// All built-in disciplines.
pub(crate) fn kinds() -> Vec<Kind<Maker>> {
    vec![
        Kind::built_in(
            "codel",
            "CoDel (RFC 8289): limit, target, interval, ecn, ce_threshold.",
            &[],
            |keys| {
                let settings = codel(keys, CoDel::default())?;
                Ok(framed(move |frame| CoDelQueue::new(CoDel { frame, ..settings })))
            },
        ),
        Kind::built_in(
            "fq_codel",
            "FQ-CoDel (RFC 8290) with one sub-queue per subflow hash: limit, flows, target, interval, quantum, ecn, ce_threshold.",
            &[],
            |keys| {
                let usual = FqCoDel::default();
                let settings = FqCoDel {
                    codel: codel(keys, usual.codel)?,
                    flows: keys.number("flows", 1..=65_536, u64::from(usual.flows))? as u32,
                    quantum: quantum(keys, usual.quantum)?,
                };
                let codel = settings.codel;
                Ok(framed(move |frame| {
                    FqCoDelQueue::new(FqCoDel { codel: CoDel { frame, ..codel }, ..settings })
                }))
            },
        ),
        Kind::built_in(
            "pie",
            "PIE (RFC 8033): limit, target, tupdate, alpha and beta (in 1/16 s^-1), ecn.",
            &[],
            |keys| {
                let usual = Pie::default();
                let settings = Pie {
                    limit: limit(keys, usual.limit)?,
                    target: keys.positive_time("target", usual.target)?,
                    tupdate: update(keys, usual.tupdate)?,
                    alpha: keys.number("alpha", 0..=32, 2)? as f64 / 16.0,
                    beta: keys.number("beta", 0..=32, 20)? as f64 / 16.0,
                    ecn: keys.flag("ecn", usual.ecn)?,
                    ..usual
                };
                Ok(framed(move |frame| PieQueue::new(Pie { frame, ..settings })))
            },
        ),
        Kind::built_in(
            "red",
            "RED (Floyd and Jacobson 1993): limit (required), min, max, avpkt, burst, probability, ecn, harddrop, gentle. \
             Defaults as in tc: max = limit / 4, min = max / 3, burst = (2 min + max) / (3 avpkt).",
            &[],
            red,
        ),
        Kind::built_in(
            "dualpi2",
            "DualPI2 (RFC 9332): limit, target, tupdate, max_rtt, coupling_factor, step_thresh, classic_protection, any_ect \
             (treats ECT(0) as scalable too, as DCTCP sends it).",
            &[],
            |keys| {
                let usual = DualPi2::default();
                let tupdate = update(keys, usual.tupdate)?;
                // RFC 9332 appendix A.1, with constants that give the defaults of Linux.
                let slowest = keys.positive_time("max_rtt", Duration::from_millis(100))?.as_secs_f64();
                let settings = DualPi2 {
                    limit: limit(keys, usual.limit)?,
                    target: keys.positive_time("target", usual.target)?,
                    tupdate,
                    alpha: 0.1 * tupdate.as_secs_f64() / (slowest * slowest),
                    beta: 0.32 / slowest,
                    coupling_factor: keys.number("coupling_factor", 0..=255, 2)? as f64,
                    step_thresh: keys.time("step_thresh", usual.step_thresh)?,
                    classic_protection: keys.share("classic_protection", usual.classic_protection)?,
                    any_ect: keys.flag("any_ect", usual.any_ect)?,
                    frame: usual.frame,
                };
                Ok(framed(move |frame| DualPi2Queue::new(DualPi2 { frame, ..settings })))
            },
        ),
        Kind::built_in(
            "drr",
            "Deficit round robin: by (flow, port), quantum, limit (per sub-queue).",
            &[],
            |keys| {
                let (by, limit) = (by(keys)?, limit(keys, QueueLimit::Packets(1000))?);
                let settings = RoundRobin { by, limit, quantum: Some(quantum(keys, 1514)?) };
                Ok(maker(move || RoundRobinQueue::new(settings)))
            },
        ),
        Kind::built_in(
            "round_robin",
            "Round robin by packets: by (flow, port), limit (per sub-queue).",
            &[],
            |keys| {
                let (by, limit) = (by(keys)?, limit(keys, QueueLimit::Packets(1000))?);
                let settings = RoundRobin { by, limit, quantum: None };
                Ok(maker(move || RoundRobinQueue::new(settings)))
            },
        ),
        Kind::built_in(
            "prio",
            "Strict priority: bands (lists of flows, highest priority first; other flows have the lowest), limit (per band).",
            &[],
            prio,
        ),
        Kind::built_in("tbf", "Token bucket shaper: rate and burst (both required), limit.", &[], |keys| {
            bucket(keys, Excess::Waits)
        }),
        Kind::built_in(
            "police",
            "Token bucket policer, which drops excess packets: rate and burst (both required), limit.",
            &[],
            |keys| bucket(keys, Excess::Drops),
        ),
    ]
}

fn codel(keys: &mut Parameters<'_>, usual: CoDel) -> Result<CoDel, ScenarioError> {
    let limit = limit(keys, usual.limit)?;
    let target = keys.positive_time("target", usual.target)?;
    let interval = keys.positive_time("interval", usual.interval)?;
    // RFC 8289 section 4.4 recommends 5% to 10% of the interval. CoDel would never drop if the target were a
    // whole interval.
    if target >= interval {
        let key = if keys.has("target") { "target" } else { "interval" };
        return Err(keys.error(key, "must be less than interval, usually a twentieth of it"));
    }
    Ok(CoDel {
        limit,
        target,
        interval,
        ecn: keys.flag("ecn", usual.ecn)?,
        ce_threshold: keys.optional_time("ce_threshold")?,
        frame: usual.frame,
    })
}

fn red(keys: &mut Parameters<'_>) -> Result<Maker, ScenarioError> {
    let most = keys.positive_size("limit", None)?;
    // As in tc, max follows from min if min is set, else from limit.
    let usual = if keys.has("min") { keys.positive_size("min", None)?.saturating_mul(3) } else { most / 4 };
    let max = keys.positive_size("max", usual.max(1))?;
    let min = keys.positive_size("min", (max / 3).max(1))?;
    if min >= max || max > most {
        return Err(keys.error("max", "must satisfy min < max <= limit"));
    }
    let avpkt = bytes(keys, "avpkt", 64, 65_535, 1000)?;
    let burst = (2 * min + max) / (3 * u64::from(avpkt));
    let settings = Red {
        limit: QueueLimit::Bytes(most),
        min,
        max,
        probability: keys.share("probability", 0.02)?,
        avpkt,
        burst: keys.number("burst", 1..=1_000_000, burst.clamp(1, 1_000_000))? as u32,
        ecn: keys.flag("ecn", false)?,
        harddrop: keys.flag("harddrop", false)?,
        gentle: keys.flag("gentle", false)?,
    };
    if settings.weight().is_none() {
        let problem =
            "must be larger: the average could not reach min during the burst (give a larger min or burst)";
        return Err(keys.error("burst", problem));
    }
    Ok(maker(move || RedQueue::new(settings)))
}

fn prio(keys: &mut Parameters<'_>) -> Result<Maker, ScenarioError> {
    let bands: Vec<Vec<String>> = keys.value("bands", None)?;
    let limit = limit(keys, QueueLimit::Packets(1000))?;
    if bands.is_empty() || bands.iter().any(Vec::is_empty) {
        return Err(keys.error("bands", "must name at least one flow in each band (try [[\"voice\"]])"));
    }
    Ok(Arc::new(move |place: &Place<'_>| {
        let mut band_of: Vec<Option<usize>> = vec![None; place.flows.len()];
        for (band, name) in
            bands.iter().enumerate().flat_map(|(band, names)| names.iter().map(move |name| (band, name)))
        {
            let mut found = false;
            for (at, _) in place.flows.iter().enumerate().filter(|(_, flow)| is_called(flow, name)) {
                found = true;
                if band_of[at].replace(band).is_some_and(|before| before != band) {
                    return Err(format!(
                        "must have each flow in one band, but {:?} is in two",
                        place.flows[at]
                    ));
                }
            }
            if !found {
                let all = place.flows.join(", ");
                return Err(format!("there is no flow {name:?} (there are: {all})"));
            }
        }
        let bands = band_of.iter().enumerate().filter_map(|(at, band)| Some((classes_of(at), (*band)?)));
        let settings = Prio { bands: bands.collect(), limit };
        Ok(Arc::new(move || Box::new(PrioQueue::new(settings.clone()))))
    }))
}

fn bucket(keys: &mut Parameters<'_>, excess: Excess) -> Result<Maker, ScenarioError> {
    let Some(rate) = keys.rate("rate", None)?.and_then(Rate::new) else {
        return Err(keys.error("rate", "must be at least 8bit (try \"5Mbit\")"));
    };
    let burst = bytes(keys, "burst", 64, u64::from(u32::MAX), None)?;
    let settings = TokenBucket { rate, burst, limit: limit(keys, QueueLimit::Packets(1000))?, excess };
    Ok(Arc::new(move |place: &Place<'_>| {
        if burst < place.frame {
            let frame = place.frame;
            return Err(format!(
                "must have a burst of at least {frame}B, a full frame of this link; with {burst}B it would never get through"
            ));
        }
        Ok(Arc::new(move || Box::new(TokenBucketQueue::new(settings))))
    }))
}

/// Reads a size from `least` to `most` bytes. With `usual` = `None`, the key is required.
fn bytes(
    keys: &mut Parameters<'_>,
    key: &str,
    least: u64,
    most: u64,
    usual: impl Into<Option<u64>>,
) -> Result<u32, ScenarioError> {
    let value = keys.size(key, usual)?;
    if (least..=most).contains(&value) {
        return Ok(value as u32);
    }
    Err(keys.error(key, must_be_between(value, &(least..=most), "B")))
}

fn limit(keys: &mut Parameters<'_>, usual: QueueLimit) -> Result<QueueLimit, ScenarioError> {
    keys.value("limit", Some(QueueSize::from(usual))).map(QueueLimit::from)
}

fn update(keys: &mut Parameters<'_>, usual: Duration) -> Result<Duration, ScenarioError> {
    let every = keys.time("tupdate", usual)?;
    if every < Duration::from_millis(1) {
        return Err(keys.error("tupdate", "must be at least 1ms (nearest: 1ms)"));
    }
    Ok(every)
}

fn quantum(keys: &mut Parameters<'_>, usual: u32) -> Result<u32, ScenarioError> {
    bytes(keys, "quantum", 256, 1 << 30, u64::from(usual))
}

fn by(keys: &mut Parameters<'_>) -> Result<By, ScenarioError> {
    Ok([By::Flow, By::Port][keys.choice("by", &["flow", "port"], 0)?])
}
