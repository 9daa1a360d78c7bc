//! Resolves the traffic of flows: the application, such as `bulk` or UDP datagrams, and its settings.
//!
//! Owns the valid combinations of keys, because a key of one application has no meaning for another.

use mptcp_clock::Duration;

use super::context::Context;
use crate::scenario::error::ScenarioError;
use crate::scenario::file::FlowTable;
use crate::scenario::model::Traffic;
use crate::scenario::names::Transport;
use crate::scenario::units::{Size, Span};

/// The traffic of one flow.
pub(super) fn of(
    context: &Context<'_>,
    name: &str,
    table: &FlowTable,
    transport: Transport,
) -> Result<Traffic, ScenarioError> {
    let at = |key| ["flows", name, key];
    if transport == Transport::Udp {
        let streams = [
            ("bytes", table.bytes.is_some()),
            ("blocks", table.blocks.is_some()),
            ("application", table.application.is_some()),
        ];
        if let Some((key, _)) = streams.iter().find(|(_, given)| *given) {
            return Err(context.error(&at(key), "must not be set for udp (use datagram and rate)"));
        }
        let bytes = table.datagram.map_or(1472, |size| size.0);
        if !(1..=65_507).contains(&bytes) {
            return Err(context.error(&at("datagram"), "must be between 1B and 65507B"));
        }
        let rate = table.rate.and_then(|rate| rate.0);
        let activity = activity(context, name, table, rate)?;
        return Ok(Traffic::Datagrams { bytes: bytes as u32, rate, activity });
    }
    let datagrams =
        [("datagram", table.datagram.is_some()), ("on", table.on.is_some()), ("off", table.off.is_some())];
    if let Some((key, _)) = datagrams.iter().find(|(_, given)| *given) {
        return Err(context.error(&at(key), "needs udp (try transport = \"udp\")"));
    }
    let bulk = table.bulk == Some(true);
    let others = u32::from(bulk) + u32::from(table.bytes.is_some()) + u32::from(table.blocks.is_some());
    if table.application.is_some() {
        if others > 0 || table.rate.is_some() {
            let problem = "must be the only traffic of its flow; leave out bulk, bytes, blocks and rate";
            return Err(context.error(&at("application"), problem));
        }
        return context.kind(&at("application"), context.registry.applications()).map(Traffic::Custom);
    }
    if others > 1 {
        let key = if table.blocks.is_some() { "blocks" } else { "bytes" };
        return Err(context.error(&at(key), "must be the only traffic of its flow: bulk, bytes or blocks"));
    }
    if table.rate.is_some() && table.blocks.is_none() {
        let problem = "needs blocks (try blocks = \"8KB\" next to it)";
        return Err(context.error(&at("rate"), problem));
    }
    match (table.bytes, table.blocks) {
        (Some(Size(0)), _) => Err(context.error(&at("bytes"), "must be at least 1B")),
        (_, Some(Size(0))) => Err(context.error(&at("blocks"), "must be at least 1B")),
        (Some(Size(bytes)), _) => Ok(Traffic::File { bytes }),
        (_, Some(Size(bytes))) => Ok(Traffic::Blocks { bytes, rate: table.rate.and_then(|rate| rate.0) }),
        (None, None) if table.bulk == Some(false) => {
            Err(context
                .error(&at("bulk"), "needs another traffic (try bytes = \"15MB\" or blocks = \"8KB\")"))
        }
        (None, None) => Ok(Traffic::Bulk),
    }
}

/// The deadline of a flow; `None` without the key.
pub(super) fn deadline(
    context: &Context<'_>,
    name: &str,
    table: &FlowTable,
    transport: Transport,
) -> Result<Option<Duration>, ScenarioError> {
    let Some(Span(deadline)) = table.deadline else { return Ok(None) };
    let at = ["flows", name, "deadline"];
    if deadline.is_zero() {
        return Err(context.error(&at, "must be longer than 0s"));
    }
    let ends = table.bytes.is_some() || table.blocks.is_some() || table.application.is_some();
    if !ends && transport != Transport::Udp {
        let problem = "needs blocks or bytes (try blocks = \"8KB\" or bytes = \"15MB\" next to it)";
        return Err(context.error(&at, problem));
    }
    Ok(Some(deadline))
}

/// Mean durations of on and off periods; `None` for a flow that is always on.
fn activity(
    context: &Context<'_>,
    name: &str,
    table: &FlowTable,
    rate: Option<u64>,
) -> Result<Option<(Duration, Duration)>, ScenarioError> {
    let at = |key| ["flows", name, key];
    let (on, off) = match (table.on, table.off) {
        (None, None) => return Ok(None),
        (Some(Span(on)), Some(Span(off))) => (on, off),
        (Some(_), None) => {
            return Err(context.error(&at("on"), "needs off (try off = \"1s\" next to it)"));
        }
        (None, Some(_)) => {
            return Err(context.error(&at("off"), "needs on (try on = \"1s\" next to it)"));
        }
    };
    if on.is_zero() {
        return Err(context.error(&at("on"), "must be longer than 0s"));
    }
    if rate.is_none() {
        let problem = "needs a rate (try rate = \"1Mbit\" next to it)";
        return Err(context.error(&at("on"), problem));
    }
    Ok(Some((on, off)))
}
