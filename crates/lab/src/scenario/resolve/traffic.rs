//! What flows carry.
//!
//! Owns which keys go together. Never says how it is sent.

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
            return Err(context.error(&at(key), "is for streams; udp has datagrams and a rate"));
        }
        let bytes = table.datagram.map_or(1472, |size| size.0);
        if !(1..=65_507).contains(&bytes) {
            return Err(context.error(&at("datagram"), "has 1B to 65507B"));
        }
        let rate = table.rate.and_then(|rate| rate.0);
        let activity = activity(context, name, table, rate)?;
        return Ok(Traffic::Datagrams { bytes: bytes as u32, rate, activity });
    }
    let datagrams =
        [("datagram", table.datagram.is_some()), ("on", table.on.is_some()), ("off", table.off.is_some())];
    if let Some((key, _)) = datagrams.iter().find(|(_, given)| *given) {
        return Err(context.error(&at(key), "is for udp (try transport = \"udp\")"));
    }
    let bulk = table.bulk == Some(true);
    let others = u32::from(bulk) + u32::from(table.bytes.is_some()) + u32::from(table.blocks.is_some());
    if table.application.is_some() {
        if others > 0 || table.rate.is_some() {
            let problem = "bulk, bytes, blocks and rate are for other flows; give one kind of traffic";
            return Err(context.error(&at("application"), problem));
        }
        return context.kind(&at("application"), context.registry.applications()).map(Traffic::Custom);
    }
    if others > 1 {
        let key = if table.blocks.is_some() { "blocks" } else { "bytes" };
        return Err(context.error(&at(key), "a flow carries one kind of traffic: bulk, bytes or blocks"));
    }
    if table.rate.is_some() && table.blocks.is_none() {
        let problem = "only a flow of blocks has a rate of its own (try blocks = \"8KB\" beside it)";
        return Err(context.error(&at("rate"), problem));
    }
    match (table.bytes, table.blocks) {
        (Some(Size(0)), _) => Err(context.error(&at("bytes"), "a file has at least 1B")),
        (_, Some(Size(0))) => Err(context.error(&at("blocks"), "a block has at least 1B")),
        (Some(Size(bytes)), _) => Ok(Traffic::File { bytes }),
        (_, Some(Size(bytes))) => Ok(Traffic::Blocks { bytes, rate: table.rate.and_then(|rate| rate.0) }),
        (None, None) if table.bulk == Some(false) => {
            Err(context
                .error(&at("bulk"), "then say what it carries (try bytes = \"15MB\" or blocks = \"8KB\")"))
        }
        (None, None) => Ok(Traffic::Bulk),
    }
}

/// The mean times of sending and of pauses.
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
            return Err(context.error(&at("on"), "times of sending need pauses (try off = \"1s\" beside on)"));
        }
        (None, Some(_)) => {
            return Err(
                context.error(&at("off"), "pauses need a time in between (try on = \"1s\" beside off)")
            );
        }
    };
    if on.is_zero() {
        return Err(context.error(&at("on"), "a time of sending is longer than 0s"));
    }
    if rate.is_none() {
        let problem = "who sends as fast as it goes makes no pauses (try rate = \"1Mbit\" beside it)";
        return Err(context.error(&at("on"), problem));
    }
    Ok(Some((on, off)))
}
