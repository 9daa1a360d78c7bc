//! Resolves paths and links: fills in defaults, reads recordings, and refuses keys that exclude each other.
//!
//! A path is a link between the hosts `client` and `server`. Owns the order in which keys apply: a key of one
//! direction overrides the same key of both directions.

use mptcp_clock::Duration;
use netsim::{Batch, CustomLoss, GilbertElliott, Loss, QueueKind, QueueLimit};

use super::context::{Context, ENDS};
use super::published;
use crate::queues::Place;
use crate::scenario::error::ScenarioError;
use crate::scenario::file::{
    DirectionTable, GilbertElliottTable, LinkTable, PathTable, QueueValue, ScenarioFile,
};
use crate::scenario::model::{Flow, Link, LinkDirection, LinkKind};
use crate::scenario::recording::{Recording, Start};
use crate::scenario::units::{LineRate, Percent, Span, TraceStart};

/// Length of the Ethernet header, bytes.
const ETHERNET: u32 = 14;

/// A path or link as written.
struct Written<'a> {
    at: [&'a str; 2],
    /// Duration of the run.
    duration: Option<Span>,
    rtt: Option<Span>,
    mtu: Option<u32>,
    both: &'a DirectionTable,
    forward: Option<&'a DirectionTable>,
    backward: Option<&'a DirectionTable>,
}

pub(super) fn resolve(context: &Context<'_>, file: &ScenarioFile) -> Result<Vec<Link>, ScenarioError> {
    let mut links = Vec::new();
    for (name, path) in file.paths.iter().flatten() {
        let PathTable { rtt, mtu, forward, backward, both } = path;
        let (forward, backward) = (forward.as_ref(), backward.as_ref());
        let (at, duration) = (["paths", name.as_str()], file.duration);
        let written = Written { at, duration, rtt: *rtt, mtu: *mtu, both, forward, backward };
        links.push(link(context, &written, LinkKind::Path, ENDS.map(str::to_owned))?);
    }
    for (name, table) in file.links.iter().flatten() {
        let LinkTable { ends, rtt, mtu, forward, backward, both } = table;
        let at = ["links", name];
        if file.paths.as_ref().is_some_and(|paths| paths.contains_key(name)) {
            return Err(context.error(&at, "a path has this name; names of paths and links must differ"));
        }
        let ends = match ends.as_deref() {
            Some([a, b]) if a != b => [a.clone(), b.clone()],
            Some(_) => {
                let problem = "must name two different nodes (try [\"client\", \"router\"])";
                return Err(context.error(&["links", name, "ends"], problem));
            }
            None => {
                let problem = "a link needs its ends (try ends = [\"client\", \"router\"])";
                return Err(context.error(&["links", name, "ends"], problem));
            }
        };
        let (forward, backward) = (forward.as_ref(), backward.as_ref());
        let duration = file.duration;
        let written = Written { at, duration, rtt: *rtt, mtu: *mtu, both, forward, backward };
        links.push(link(context, &written, LinkKind::Link, ends)?);
    }
    Ok(links)
}

fn link(
    context: &Context<'_>,
    written: &Written<'_>,
    kind: LinkKind,
    ends: [String; 2],
) -> Result<Link, ScenarioError> {
    let [table, name] = written.at;
    context.name(&written.at, name)?;
    let mtu = context.number(&[table, name, "mtu"], written.mtu, 68..=65_535, 1500)?;
    if written.both.delay.is_some() && written.rtt.is_some() {
        return Err(context.both(&[table, name], ["rtt", "delay"], "; rtt is twice the delay"));
    }
    for (own, key) in
        [(Some(written.both), None), (written.forward, Some("forward")), (written.backward, Some("backward"))]
    {
        let Some(own) = own else { continue };
        let path = |last| [table, name].into_iter().chain(key).chain([last]).collect::<Vec<_>>();
        context.number(&path("path_mtu"), own.path_mtu, 68..=65_535, 1500)?;
        context.number(&path("slot_frames"), own.slot_frames, 1..=65_535, 1)?;
        if own.slot.is_some_and(|slot| slot.0.is_zero()) {
            return Err(context.error(&path("slot"), "must be longer than 0s (omit it to disable slots)"));
        }
        if own.slot_frames.is_some() && own.slot.or(written.both.slot).is_none() {
            let problem =
                "needs slot: without it, the last frames would wait for ever (try slot = \"5ms\" next to it)";
            return Err(context.error(&path("slot_frames"), problem));
        }
        if own.loss.is_some() && own.gilbert_elliott.is_some() {
            let table = path("loss");
            return Err(context.both(&table[..table.len() - 1], ["loss", "gilbert_elliott"], ""));
        }
        if own.loss_model.is_some() && (own.loss.is_some() || own.gilbert_elliott.is_some()) {
            let other = if own.loss.is_some() { "loss" } else { "gilbert_elliott" };
            return Err(
                context.error(&path("loss_model"), format!("{other} is also given; give only one of them"))
            );
        }
    }
    let name = name.to_owned();
    let forward = line(context, written, written.forward, "forward")?;
    let backward = line(context, written, written.backward, "backward")?;
    Ok(Link { name, kind, ends, mtu, forward, backward, station: None })
}

/// One direction. Its own keys take precedence over the keys of both directions, then defaults apply.
fn line(
    context: &Context<'_>,
    written: &Written<'_>,
    own: Option<&DirectionTable>,
    side: &str,
) -> Result<LinkDirection, ScenarioError> {
    let [table, name] = written.at;
    let none = DirectionTable::default();
    let (own, both) = (own.unwrap_or(&none), written.both);
    let recording = recording(context, written, own, side)?;
    let recorded = recording.as_ref().and_then(Recording::rate);
    let given = own.rate.or(both.rate);
    if recorded.is_some() && given.is_some() {
        let problem = "trace is also given and sets the rate; give only one of them";
        return Err(context.error(&[table, name, "rate"], problem));
    }
    let Some(rate) = recorded.map(|rate| LineRate(Some(rate))).or(given) else {
        let problem = format!(
            "a {} needs a rate (try rate = \"8Mbit\", or \"unlimited\")",
            table.trim_end_matches('s')
        );
        return Err(context.error(&[table, name, "rate"], problem));
    };
    let delay = own.delay.or(both.delay).map(|span| span.0).or(written.rtt.map(|rtt| rtt.0 / 2));
    let own_loss = own.loss.is_some() || own.gilbert_elliott.is_some() || own.loss_model.is_some();
    let (source, at) = if own_loss { (own, vec![table, name, side]) } else { (both, vec![table, name]) };
    let queue = match own.queue.as_ref().or(both.queue.as_ref()) {
        Some(QueueValue::DropTail(size)) => (*size).into(),
        // `disciplines` reads the discipline later.
        Some(QueueValue::Discipline(_)) => QueueLimit::Unlimited,
        None => QueueLimit::Packets(1000),
    };
    Ok(LinkDirection {
        rate: rate.0,
        delay: delay.unwrap_or(Duration::ZERO),
        loss: loss(context, source, &at)?,
        duplicate: own.duplicate.or(both.duplicate).map_or(0.0, Percent::fraction),
        corrupt: own.corrupt.or(both.corrupt).map_or(0.0, Percent::fraction),
        batch: own
            .slot
            .or(both.slot)
            .map(|slot| Batch { time: slot.0, frames: own.slot_frames.or(both.slot_frames) }),
        jitter: own.jitter.or(both.jitter).map_or(Duration::ZERO, |span| span.0),
        reorder: own.reorder.or(both.reorder).unwrap_or(false),
        queue,
        discipline: None,
        recording,
        path_mtu: own.path_mtu.or(both.path_mtu),
        icmp: own.icmp.or(both.icmp).unwrap_or(true),
        mark: own.mark.or(both.mark).map(QueueLimit::from),
        up: own.up.or(both.up).unwrap_or(true),
    })
}

/// The recording of a direction; its file is relative to the file that names it.
fn recording(
    context: &Context<'_>,
    written: &Written<'_>,
    own: &DirectionTable,
    side: &str,
) -> Result<Option<Recording>, ScenarioError> {
    let [table, name] = written.at;
    let (file, at) = match (&own.trace, &written.both.trace) {
        (Some(own), _) => (own, vec![table, name, side, "trace"]),
        (None, Some(both)) => (both, vec![table, name, "trace"]),
        (None, None) => {
            let problem = "needs a trace (try trace = \"lte.up\" next to it)";
            let keys = ["trace_start", "trace_repeat"];
            let places = keys.iter().flat_map(|&key| [vec![table, name, side, key], vec![table, name, key]]);
            let wrong = places.into_iter().find(|at| context.has(at));
            return wrong.map_or(Ok(None), |at| Err(context.error(&at, problem)));
        }
    };
    let start = match own.trace_start.or(written.both.trace_start) {
        None | Some(TraceStart::At(Span(Duration::ZERO))) => Start::Beginning,
        Some(TraceStart::At(Span(at))) => Start::At(at),
        Some(TraceStart::Random) => Start::Random,
    };
    let repeats = own.trace_repeat.or(written.both.trace_repeat);
    // An override names a file, also if the scenario was written without its files.
    let attached = context.recordings.get(&(name.to_owned(), side.to_owned()));
    let read = match attached.filter(|_| !context.is_override(&at)) {
        Some(contents) => Recording::of(contents.clone(), file, start, repeats),
        None => Recording::read(&context.relative_file(&at, file), file, start, repeats),
    };
    let read = read.map_err(|problem| context.error(&at, problem))?;
    match written.duration.and_then(|duration| read.changes_too_often(duration.0)) {
        Some(problem) => Err(context.error(&at, problem)),
        None => Ok(Some(read)),
    }
}

/// Creates the queue disciplines of links. Runs after `flows`, because a discipline may name flows.
pub(super) fn disciplines(
    context: &Context<'_>,
    links: &mut [Link],
    flows: &[Flow],
) -> Result<(), ScenarioError> {
    let names: Vec<String> = flows.iter().map(|flow| flow.name.clone()).collect();
    for link in links.iter_mut().filter(|link| link.kind != LinkKind::Station) {
        let (table, name) = (format!("{}s", link.kind.key()), link.name.clone());
        for (line, side) in [(&mut link.forward, "forward"), (&mut link.backward, "backward")] {
            let own = [&table, &name, side, "queue"];
            let at = if context.has(&own) { &own[..] } else { &[&table, &*name, "queue"] };
            if !context.is_table(at) {
                continue;
            }
            if line.mark.is_some() {
                let problem = "needs a drop-tail queue: a discipline has its own marking keys";
                let own = [&table, &name, side, "mark"];
                let at = if context.has(&own) { &own[..] } else { &[&table, &*name, "mark"] };
                return Err(context.error(at, problem));
            }
            let chosen = context.kind(at, context.registry.queues())?;
            let make = (chosen.make())(&Place { flows: &names, frame: link.mtu + ETHERNET })
                .map_err(|problem| context.error(at, problem))?;
            line.discipline = Some(QueueKind::new(chosen.identity(), move || make()));
        }
    }
    Ok(())
}

fn loss(context: &Context<'_>, table: &DirectionTable, at: &[&str]) -> Result<Loss, ScenarioError> {
    if table.loss_model.is_some() {
        let chosen = context.kind(&[at, &["loss_model"]].concat(), context.registry.losses())?;
        let make = chosen.make().clone();
        return Ok(Loss::Custom(CustomLoss::new(chosen.identity(), move || make())));
    }
    let Some(model) = &table.gilbert_elliott else {
        let share = table.loss.map_or(0.0, Percent::fraction);
        return Ok(if share == 0.0 { Loss::None } else { Loss::Bernoulli(share) });
    };
    let GilbertElliottTable { preset, p, r, loss_bad, loss_good } = model;
    if let Some(preset) = preset {
        let own = [("p", p), ("r", r), ("loss_bad", loss_bad), ("loss_good", loss_good)];
        if let Some((key, _)) = own.iter().find(|(_, value)| value.is_some()) {
            let problem = format!("the preset {:?} is also given; give only one of them", preset.name());
            return Err(context.error(&[at, &["gilbert_elliott", key]].concat(), problem));
        }
        return Ok(Loss::GilbertElliott(published::loss(*preset)));
    }
    let (Some(p), Some(r)) = (p, r) else {
        let problem = "needs p and r (try { p = \"1%\", r = \"25%\" })";
        return Err(context.error(&[at, &["gilbert_elliott"]].concat(), problem));
    };
    Ok(Loss::GilbertElliott(GilbertElliott {
        good_to_bad: p.fraction(),
        bad_to_good: r.fraction(),
        loss_in_bad: loss_bad.map_or(1.0, Percent::fraction),
        loss_in_good: loss_good.map_or(0.0, Percent::fraction),
    }))
}
