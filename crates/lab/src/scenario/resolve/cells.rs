//! Resolves WiFi cells, stations, background stations and couplings: fills in defaults, and checks values.
//!
//! A cell is an access point with its channel. Background stations only occupy the channel. A coupling is the
//! interference between two cells.

use mptcp_clock::Duration;
use netsim::{Loss, QueueLimit};

use super::context::{Context, ENDS};
use crate::scenario::error::{ScenarioError, listed};
use crate::scenario::file::{BackgroundTable, CellTable, ScenarioFile, StationTable};
use crate::scenario::model::{Background, Cell, Coupling, Link, LinkDirection, LinkKind, Station};
use crate::scenario::names::{Discipline, Slot, Standard};
use crate::scenario::units::{LineRate, Percent};

/// Default ring size: ath9k keeps two frames in the device.
const RING: u32 = 2;
/// Default ring size with aggregation: two aggregates.
const AGGREGATE_RING: u32 = 64;
/// Default distance of a station, metres.
const NEAR: f64 = 3.0;

pub(super) fn resolve(context: &Context<'_>, file: &ScenarioFile) -> Result<Vec<Cell>, ScenarioError> {
    file.cells.iter().flatten().map(|(name, table)| cell(context, name, table)).collect()
}

fn cell(context: &Context<'_>, name: &str, table: &CellTable) -> Result<Cell, ScenarioError> {
    let at = |key| ["cells", name, key];
    context.name(&["cells", name], name)?;
    let standard = table.standard.unwrap_or(Standard::G);
    let default = if standard == Standard::A { 36 } else { 1 };
    let channel = table.channel.unwrap_or(default);
    let (allowed, words) = match standard {
        Standard::A => ((36..=177).contains(&channel), "36 to 177 (5 GHz)"),
        Standard::B | Standard::G => ((1..=14).contains(&channel), "1 to 14 (2.4 GHz)"),
        Standard::N => (
            (1..=14).contains(&channel) || (36..=177).contains(&channel),
            "1 to 14 (2.4 GHz) or 36 to 177 (5 GHz)",
        ),
    };
    if !allowed {
        let problem = format!("must be one of the channels of {standard}: {words} (try {default})");
        return Err(context.error(&at("channel"), problem));
    }
    for (key, given) in [
        ("streams", table.streams.is_some()),
        ("short_guard", table.short_guard.is_some()),
        ("aggregation", table.aggregation.is_some()),
    ] {
        if given && standard != Standard::N {
            return Err(context.error(&at(key), format!("needs 802.11n, but this cell is {standard}")));
        }
    }
    let n = standard == Standard::N;
    let usual = if standard == Standard::B { 31 } else { 15 };
    let cw_min = context.number(&at("cw_min"), table.cw_min, 0..=1023, usual)?;
    let cw_max = context.number(&at("cw_max"), table.cw_max, 0..=32_767, 1023)?;
    if cw_max < cw_min {
        return Err(context.error(&at("cw_max"), format!("must be at least cw_min, {cw_min}")));
    }
    Ok(Cell {
        name: name.to_owned(),
        standard,
        channel,
        access_point: table.access_point.clone().unwrap_or_else(|| name.to_owned()),
        slot: table.slot.unwrap_or(if standard == Standard::B { Slot::Long } else { Slot::Short }),
        protection: table.protection.unwrap_or(false),
        wpa2: table.wpa2.unwrap_or(false),
        streams: context.number(&at("streams"), table.streams, 1..=2, if n { 2 } else { 1 })?,
        short_guard: table.short_guard.unwrap_or(false),
        aggregation: table.aggregation.unwrap_or(n),
        queue: table.queue.map_or(QueueLimit::Packets(100), QueueLimit::from),
        discipline: table.discipline.unwrap_or(Discipline::Droptail),
        retry_limit: context.number(&at("retry_limit"), table.retry_limit, 1..=255, 7)?,
        cw_min,
        cw_max,
    })
}

/// The stations, as links.
pub(super) fn stations(
    context: &Context<'_>,
    file: &ScenarioFile,
    cells: &[Cell],
    links: &[Link],
) -> Result<Vec<Link>, ScenarioError> {
    let tables = file.stations.iter().flatten();
    tables.map(|(name, table)| station(context, name, table, cells, links)).collect()
}

fn station(
    context: &Context<'_>,
    name: &str,
    table: &StationTable,
    cells: &[Cell],
    links: &[Link],
) -> Result<Link, ScenarioError> {
    let at = |key| ["stations", name, key];
    context.name(&["stations", name], name)?;
    if links.iter().any(|link| link.name == *name) {
        let problem = "a path or link has this name; names of paths, links and stations must differ";
        return Err(context.error(&["stations", name], problem));
    }
    let cell = chosen(context, &["stations", name], table.cell.as_deref(), cells)?;
    let host = table.host.clone().unwrap_or_else(|| ENDS[0].to_owned());
    if host == cell.access_point {
        return Err(
            context.error(&at("host"), format!("must not be the access point of cell {:?}", cell.name))
        );
    }
    let rate = match table.rate {
        Some(rate) => Some(phy_rate(context, &at("rate"), rate.0, cell)?),
        None => None,
    };
    let distance = table.distance.map_or(NEAR, |distance| distance.0);
    let loss = table.loss.map_or(0.0, Percent::fraction);
    let default_ring = if cell.aggregation { AGGREGATE_RING } else { RING };
    let line = LinkDirection {
        discipline: None,
        recording: None,
        rate: None,
        delay: table.delay.map_or(Duration::ZERO, |span| span.0),
        loss: if loss > 0.0 { Loss::Bernoulli(loss) } else { Loss::None },
        duplicate: 0.0,
        corrupt: 0.0,
        batch: None,
        jitter: Duration::ZERO,
        reorder: false,
        queue: table.queue.map_or(QueueLimit::Packets(1000), QueueLimit::from),
        mark: None,
        path_mtu: None,
        icmp: true,
        up: table.up.unwrap_or(true),
    };
    Ok(Link {
        name: name.to_owned(),
        kind: LinkKind::Station,
        ends: [host, cell.access_point.clone()],
        // IEEE 802.11-2016 section 9.2.4.7: the largest MSDU has 2304 bytes, 8 of them LLC and SNAP.
        mtu: context.number(&at("mtu"), table.mtu, 68..=2290, 1500)?,
        forward: line.clone(),
        backward: LinkDirection { queue: cell.queue, ..line },
        station: Some(Station {
            cell: cell.name.clone(),
            rate,
            distance,
            discipline: table.discipline.unwrap_or(Discipline::Droptail),
            ring: context.number(&at("ring"), table.ring, 1..=100_000, default_ring)?,
        }),
    })
}

pub(super) fn background(
    context: &Context<'_>,
    file: &ScenarioFile,
    cells: &[Cell],
) -> Result<Vec<Background>, ScenarioError> {
    let tables = file.background.iter().flatten();
    tables.map(|(name, table)| disturbers(context, name, table, cells)).collect()
}

fn disturbers(
    context: &Context<'_>,
    name: &str,
    table: &BackgroundTable,
    cells: &[Cell],
) -> Result<Background, ScenarioError> {
    let at = |key| ["background", name, key];
    context.name(&["background", name], name)?;
    let cell = chosen(context, &["background", name], table.cell.as_deref(), cells)?;
    let rate = match table.rate {
        Some(rate) => Some(phy_rate(context, &at("rate"), rate.0, cell)?),
        None => None,
    };
    let frame = table.frame.map_or(1500, |size| size.0);
    if !(28..=2290).contains(&frame) {
        return Err(context.error(&at("frame"), "must be between 28B and 2290B"));
    }
    let activity = match (table.on, table.off) {
        (None, None) => None,
        (Some(on), off) if !on.0.is_zero() => Some((on.0, off.map_or(Duration::ZERO, |off| off.0))),
        _ => {
            let problem = "needs on (try on = \"100ms\" next to it)";
            return Err(context.error(&at(if table.on.is_some() { "on" } else { "off" }), problem));
        }
    };
    Ok(Background {
        name: name.to_owned(),
        cell: cell.name.clone(),
        stations: context.number(&at("stations"), table.stations, 1..=100, 1)?,
        frame: frame as u32,
        rate,
        activity,
    })
}

pub(super) fn couplings(
    context: &Context<'_>,
    file: &ScenarioFile,
    cells: &[Cell],
) -> Result<Vec<Coupling>, ScenarioError> {
    let mut couplings: Vec<Coupling> = Vec::new();
    for (index, table) in file.coupling.iter().flatten().enumerate() {
        let index = index.to_string();
        let at = |key| ["coupling", index.as_str(), key];
        let pair = match table.cells.as_deref() {
            Some([a, b]) if a != b => [a.clone(), b.clone()],
            _ => {
                let problem = "must name two different cells (try cells = [\"a\", \"b\"])";
                return Err(context.error(&["coupling", index.as_str()], problem));
            }
        };
        for (number, name) in pair.iter().enumerate() {
            if !cells.iter().any(|cell| cell.name == *name) {
                let number = number.to_string();
                let path = ["coupling", index.as_str(), "cells", number.as_str()];
                return Err(context.unknown(&path, "cell", name, cells.iter().map(|cell| &*cell.name)));
            }
        }
        if couplings.iter().any(|known| pair.iter().all(|name| known.cells.contains(name))) {
            return Err(context.error(&at("cells"), "must not repeat a pair of cells"));
        }
        let needed = |key, value: Option<Percent>| {
            let problem = "needs carrier_sense and collision (try \"50%\")";
            value.map(Percent::fraction).ok_or_else(|| context.error(&at(key), problem))
        };
        let carrier_sense = needed("carrier_sense", table.carrier_sense)?;
        let collision = needed("collision", table.collision)?;
        couplings.push(Coupling { cells: pair, carrier_sense, collision });
    }
    Ok(couplings)
}

/// The named cell; without a name, the only cell of the scenario.
fn chosen<'a>(
    context: &Context<'_>,
    at: &[&str],
    name: Option<&str>,
    cells: &'a [Cell],
) -> Result<&'a Cell, ScenarioError> {
    let names = || cells.iter().map(|cell| cell.name.as_str());
    match (name, cells) {
        (Some(name), _) => cells
            .iter()
            .find(|cell| cell.name == name)
            .ok_or_else(|| context.unknown(&[at, &["cell"]].concat(), "cell", name, names())),
        (None, [only]) => Ok(only),
        (None, []) => Err(context.error(at, "there is no cell (try [cells.home])")),
        (None, _) => Err(context.error(at, format!("needs a cell (there are: {})", listed(names())))),
    }
}

/// The PHY rate of the standard within 1% of `rate`, because usual names of rates are rounded (72.2 Mb/s).
fn phy_rate(
    context: &Context<'_>,
    at: &[&str],
    rate: Option<u64>,
    cell: &Cell,
) -> Result<u64, ScenarioError> {
    let rates = cell.parameters().rates();
    let word = |rate: u64| LineRate(Some(rate)).to_string();
    let all = listed(rates.iter().map(|&rate| word(rate)).collect::<Vec<_>>().iter().map(String::as_str));
    let Some(rate) = rate else {
        let problem =
            format!("must be one of the rates of {}: {all}; omit it for rate control", cell.standard);
        return Err(context.error(at, problem));
    };
    let nearest = rates.iter().min_by_key(|known| known.abs_diff(rate)).copied().unwrap_or(rate);
    if nearest.abs_diff(rate) <= nearest / 100 {
        return Ok(nearest);
    }
    Err(context.error(
        at,
        format!("must be one of the rates of {}: {all} (nearest: {})", cell.standard, word(nearest)),
    ))
}
