//! The queue disciplines that scenarios may name: `queue = { kind = "fq_codel", target = "5ms" }` of a path or link.
//!
//! Owns their keys, with the names and defaults of `tc`. What they do is `netsim`'s affair.

use std::sync::Arc;

use mptcp_clock::Duration;
use netsim::{
    By, CoDel, CoDelQueue, DualPi2, DualPi2Queue, Excess, FqCoDel, FqCoDelQueue, Pie, PieQueue, Prio,
    PrioQueue, QueueDiscipline, QueueLimit, Rate, Red, RedQueue, TokenBucket, TokenBucketQueue, Turns,
    TurnsQueue,
};

use crate::classes::classes_of;
use crate::scenario::ScenarioError;
use crate::scenario::kinds::Kind;
use crate::scenario::parameters::Parameters;
use crate::scenario::units::QueueSize;

/// Makes a discipline for a direction.
pub(crate) type Make = Arc<dyn Fn() -> Box<dyn QueueDiscipline> + Send + Sync>;
/// Gives what makes one, told the names of the flows in their order; or says which flow it misses.
pub(crate) type Maker = Arc<dyn Fn(&[String]) -> Result<Make, String> + Send + Sync>;

/// One that asks nothing of flows.
pub(crate) fn maker<D: QueueDiscipline + 'static>(make: impl Fn() -> D + Send + Sync + 'static) -> Maker {
    let make: Make = Arc::new(move || Box::new(make()));
    Arc::new(move |_| Ok(make.clone()))
}

/// Whether the kind that a table names comes with this crate.
pub(crate) fn is_built_in(table: &toml::Table) -> bool {
    let named = table.get("kind").and_then(toml::Value::as_str);
    kinds().iter().any(|kind| Some(&*kind.name) == named)
}

/// All that come with this crate.
pub(crate) fn kinds() -> Vec<Kind<Maker>> {
    vec![
        Kind::built_in(
            "codel",
            "CoDel (RFC 8289): limit, target, interval, ecn, ce_threshold.",
            &[],
            |keys| {
                let settings = codel(keys, CoDel::default())?;
                Ok(maker(move || CoDelQueue::new(settings)))
            },
        ),
        Kind::built_in(
            "fq_codel",
            "FQ-CoDel (RFC 8290), a row for each subflow: limit, flows, target, interval, quantum, ecn, ce_threshold.",
            &[],
            |keys| {
                let usual = FqCoDel::default();
                let settings = FqCoDel {
                    codel: codel(keys, usual.codel)?,
                    flows: keys.number("flows", 1..=65_536, u64::from(usual.flows))? as u32,
                    quantum: quantum(keys, usual.quantum)?,
                };
                Ok(maker(move || FqCoDelQueue::new(settings)))
            },
        ),
        Kind::built_in(
            "pie",
            "PIE (RFC 8033): limit, target, tupdate, alpha and beta (sixteenths of 1/s), ecn.",
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
                Ok(maker(move || PieQueue::new(settings)))
            },
        ),
        Kind::built_in(
            "red",
            "RED (Floyd and Jacobson 1993): limit (needed), min, max, avpkt, burst, probability, ecn, harddrop, gentle. As \
             tc's: max is a quarter of limit, min a third of max, burst (2 min + max) / (3 avpkt).",
            &[],
            red,
        ),
        Kind::built_in(
            "dualpi2",
            "DualPI2 (RFC 9332) for scalable flows beside others: limit, target, tupdate, max_rtt, coupling_factor, step_thresh, \
             classic_protection, any_ect (ECT(0) counts as scalable too, as DCTCP sends it).",
            &[],
            |keys| {
                let usual = DualPi2::default();
                let tupdate = update(keys, usual.tupdate)?;
                // RFC 9332 appendix A.1, with the constants that give the defaults of Linux.
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
                };
                Ok(maker(move || DualPi2Queue::new(settings)))
            },
        ),
        Kind::built_in(
            "drr",
            "Deficit round robin, work-conserving: by (flow, port), quantum, limit of each row.",
            &[],
            |keys| {
                let (by, limit) = (by(keys)?, limit(keys, QueueLimit::Packets(1000))?);
                let settings = Turns { by, limit, quantum: Some(quantum(keys, 1514)?) };
                Ok(maker(move || TurnsQueue::new(settings)))
            },
        ),
        Kind::built_in(
            "round_robin",
            "One packet in turn, work-conserving: by (flow, port), limit of each row.",
            &[],
            |keys| {
                let (by, limit) = (by(keys)?, limit(keys, QueueLimit::Packets(1000))?);
                let settings = Turns { by, limit, quantum: None };
                Ok(maker(move || TurnsQueue::new(settings)))
            },
        ),
        Kind::built_in(
            "prio",
            "Strict priority: bands (lists of flows, the first goes first; all others are last), limit of each band.",
            &[],
            prio,
        ),
        Kind::built_in("tbf", "A shaper: rate, burst (both needed), limit of what waits.", &[], |keys| {
            bucket(keys, Excess::Waits)
        }),
        Kind::built_in(
            "police",
            "A policer, which drops what comes too fast: rate, burst (both needed), limit.",
            &[],
            |keys| bucket(keys, Excess::Drops),
        ),
    ]
}

fn codel(keys: &mut Parameters<'_>, usual: CoDel) -> Result<CoDel, ScenarioError> {
    let given = keys.has("ce_threshold");
    Ok(CoDel {
        limit: limit(keys, usual.limit)?,
        target: keys.positive_time("target", usual.target)?,
        interval: keys.positive_time("interval", usual.interval)?,
        ecn: keys.flag("ecn", usual.ecn)?,
        ce_threshold: if given { Some(keys.time("ce_threshold", None)?) } else { None },
    })
}

fn red(keys: &mut Parameters<'_>) -> Result<Maker, ScenarioError> {
    let most = keys.positive_size("limit", None)?;
    let max = keys.positive_size("max", (most / 4).max(1))?;
    let min = keys.positive_size("min", (max / 3).max(1))?;
    if min >= max || max > most {
        return Err(keys.error("max", "min is less than max, and max no more than limit"));
    }
    let avpkt = keys.size("avpkt", 1000)?.clamp(1, 65_535) as u32;
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
    Ok(maker(move || RedQueue::new(settings)))
}

fn prio(keys: &mut Parameters<'_>) -> Result<Maker, ScenarioError> {
    let bands: Vec<Vec<String>> = keys.value("bands", None)?;
    let limit = limit(keys, QueueLimit::Packets(1000))?;
    if bands.is_empty() || bands.iter().any(Vec::is_empty) {
        return Err(keys.error("bands", "names one flow or more in each band (try [[\"voice\"]])"));
    }
    Ok(Arc::new(move |flows: &[String]| {
        let mut ranges = Vec::new();
        for (band, name) in
            bands.iter().enumerate().flat_map(|(band, names)| names.iter().map(move |name| (band, name)))
        {
            // `count` makes several flows of one name.
            let copy = |flow: &str| {
                flow.strip_prefix(name.as_str()).is_some_and(|rest| {
                    rest.is_empty()
                        || rest
                            .strip_prefix('-')
                            .is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
                })
            };
            let found = flows.iter().enumerate().filter(|(_, flow)| copy(flow)).map(|(at, _)| at);
            let before = ranges.len();
            ranges.extend(found.map(|at| (classes_of(at), band)));
            if ranges.len() == before {
                return Err(format!(
                    "names a flow {name:?} that is not there (there are: {})",
                    flows.join(", ")
                ));
            }
        }
        let settings = Prio { bands: ranges.into(), limit };
        Ok(Arc::new(move || Box::new(PrioQueue::new(settings.clone()))))
    }))
}

fn bucket(keys: &mut Parameters<'_>, excess: Excess) -> Result<Maker, ScenarioError> {
    let Some(rate) = keys.rate("rate", None)?.and_then(Rate::new) else {
        return Err(keys.error("rate", "is a rate of 8bit or more (try \"5Mbit\")"));
    };
    let burst = keys.positive_size("burst", None)?;
    if !(1514..=u64::from(u32::MAX)).contains(&burst) {
        return Err(keys.error("burst", "holds a full frame or more: 1514B to 4GB (try \"15KB\")"));
    }
    let settings =
        TokenBucket { rate, burst: burst as u32, limit: limit(keys, QueueLimit::Packets(1000))?, excess };
    Ok(maker(move || TokenBucketQueue::new(settings)))
}

fn limit(keys: &mut Parameters<'_>, usual: QueueLimit) -> Result<QueueLimit, ScenarioError> {
    keys.value("limit", Some(QueueSize::from(usual))).map(QueueLimit::from)
}

fn update(keys: &mut Parameters<'_>, usual: Duration) -> Result<Duration, ScenarioError> {
    let every = keys.time("tupdate", usual)?;
    if every < Duration::from_millis(1) {
        return Err(keys.error("tupdate", "is 1ms or longer (nearest: 1ms)"));
    }
    Ok(every)
}

fn quantum(keys: &mut Parameters<'_>, usual: u32) -> Result<u32, ScenarioError> {
    Ok(keys.positive_size("quantum", u64::from(usual))?.min(1 << 30) as u32)
}

fn by(keys: &mut Parameters<'_>) -> Result<By, ScenarioError> {
    Ok([By::Flow, By::Port][keys.choice("by", &["flow", "port"], 0)?])
}
