//! Writes the files of a run: the resolved scenario, and CSV tables with the columns of the Python tables.
//!
//! Owns the file formats of custom builds, which run without Python. Each file is written under a temporary
//! name and then renamed, so it is complete or absent. The same run gives the same bytes.
//!
//! The column `variant` is empty here: other tools write the name of a baseline or of a point of a sweep. `blamed` is
//! the share of time for which the other paths waited for older data on this path.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::json;

use crate::measurements::{FlowSummary, LinkSummary, Measurements, Metric, Samples};
use crate::scenario::Scenario;

/// Value of the columns `flow` and `path` in a sample that covers all flows or all paths.
const ALL: &str = "*";

/// Writes `scenario.toml samples.csv flows.csv paths.csv links.csv run.json`, and `blocks.csv` if a flow has
/// blocks.
///
/// # Errors
/// I/O errors.
pub fn export(directory: &Path, scenario: &Scenario, seed: u64, measured: &Measurements) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let who = format!("{},{seed},", quoted(&scenario.name));
    whole(directory, "scenario.toml", |out| out.write_all(scenario.to_toml().as_bytes()))?;
    whole(directory, "samples.csv", |out| samples(out, &who, measured))?;
    whole(directory, "flows.csv", |out| flows(out, &who, measured))?;
    whole(directory, "paths.csv", |out| paths(out, &who, measured))?;
    whole(directory, "links.csv", |out| links(out, &who, measured))?;
    if measured.flows.iter().any(|flow| !flow.blocks.is_empty()) {
        whole(directory, "blocks.csv", |out| blocks(out, &who, measured))?;
    }
    let run = json!({
        "mptcplab": env!("CARGO_PKG_VERSION"),
        "backend": "sim",
        "runs": [{
            "run": scenario.name,
            "seed": seed,
            "variant": "",
            "scenario": "scenario.toml",
            "data_packets": measured.data_packets,
        }],
    });
    // Written last: if this file exists, all others exist.
    whole(directory, "run.json", |out| writeln!(out, "{run:#}"))
}

fn whole(
    directory: &Path,
    name: &str,
    write: impl FnOnce(&mut BufWriter<fs::File>) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = directory.join(format!(".{name}.{}", std::process::id()));
    let mut out = BufWriter::new(fs::File::create_new(&temporary)?);
    let written = write(&mut out).and_then(|()| out.flush());
    let done = written.and_then(|()| fs::rename(&temporary, directory.join(name)));
    if done.is_err() {
        // The caller gets the first error, not an error of the cleanup.
        let _ = fs::remove_file(&temporary);
    }
    done
}

fn samples(out: &mut impl Write, who: &str, measured: &Measurements) -> io::Result<()> {
    write_samples(out, who, &measured.samples, &measured.flow_names, &measured.path_names)
}

/// Writes samples as CSV, as the file `samples.csv` of an export. `who` has the columns `run`, `seed` and `variant`.
///
/// # Errors
/// Those of `out`.
pub fn write_samples(
    out: &mut impl Write,
    who: &str,
    samples: &Samples,
    flow_names: &[String],
    path_names: &[String],
) -> io::Result<()> {
    writeln!(out, "run,seed,variant,time_s,flow,path,metric,value,unit")?;
    let name =
        |names: &[String], at: u16| names.get(usize::from(at)).map_or(ALL.to_owned(), |name| quoted(name));
    for row in 0..samples.time.len() {
        let (metric, unit) = Metric::ALL[usize::from(samples.metric[row])].name_and_unit();
        let flow = name(flow_names, samples.flow[row]);
        let path = name(path_names, samples.path[row]);
        writeln!(out, "{who},{},{flow},{path},{metric},{},{unit}", samples.time[row], samples.value[row])?;
    }
    Ok(())
}

/// The distinct names of limits, in order.
fn limits(flows: &[FlowSummary]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, _) in flows.iter().flat_map(|flow| &flow.limits) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

fn flows(out: &mut impl Write, who: &str, measured: &Measurements) -> io::Result<()> {
    let limits = limits(&measured.flows);
    write!(
        out,
        "run,seed,variant,flow,multipath,fell_back,fell_back_at_s,fell_back_path,fell_back_because,bytes_received,\
         bytes_received_total,unique_bytes_arrived,measured_s,goodput,throughput,intact,completion_s,handshake_s,closed,reinjected,\
         opportunistic,penalties,duplicates,blocks,latency_p50_s,latency_p95_s,latency_p99_s,late,\
         datagram_loss,jitter_s,\
         longest_silence_s,longest_silence_at_s,capacity,best_capacity,receive_buffer,send_buffer"
    )?;
    for limit in &limits {
        write!(out, ",limit_{limit}")?;
    }
    writeln!(out)?;
    for flow in &measured.flows {
        let fallback = flow.fallback.as_ref();
        let (at, path, reason) = (
            said(fallback.map(|fallback| fallback.at)),
            fallback.map_or_else(String::new, |fallback| quoted(&fallback.path)),
            fallback.map_or_else(String::new, |fallback| quoted(fallback.reason)),
        );
        write!(
            out,
            "{who},{},{},{},{at},{path},{reason}",
            quoted(&flow.flow),
            flow.multipath,
            fallback.is_some()
        )?;
        write!(out, ",{},{}", flow.bytes_received, flow.bytes_received_total)?;
        write!(out, ",{}", said(flow.unique_bytes_arrived))?;
        write!(out, ",{},{},{},{}", flow.measured, flow.goodput, flow.throughput, flow.intact)?;
        let closed = flow.closed.as_deref().unwrap_or_default();
        write!(out, ",{},{},{closed}", said(flow.completion), said(flow.handshake))?;
        write!(out, ",{},{},{}", flow.reinjected, flow.opportunistic, flow.penalties)?;
        write!(out, ",{},{}", said(flow.duplicates), flow.blocks.len())?;
        for at in 0..3 {
            write!(out, ",{}", said(flow.latency.map(|latency| latency[at])))?;
        }
        write!(out, ",{},{},{}", said(flow.late), said(flow.datagram_loss), said(flow.jitter))?;
        write!(out, ",{}", flow.longest_silence)?;
        write!(out, ",{},{}", flow.longest_silence_at, said(flow.capacity))?;
        write!(out, ",{},{},{}", said(flow.best_capacity), flow.receive_buffer, flow.send_buffer)?;
        for limit in &limits {
            let share = flow.limits.iter().find(|(name, _)| name == limit).map_or(0.0, |(_, share)| *share);
            write!(out, ",{share}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn paths(out: &mut impl Write, who: &str, measured: &Measurements) -> io::Result<()> {
    write!(
        out,
        "run,seed,variant,flow,path,subflows,bytes_sent,bytes_arrived,bytes_acked,retransmits,timeouts,reinjected,\
         mean_srtt_s,capacity,best_capacity,base_rtt_s,ack_wait_s,ack_queue,dropped_random,dropped_queue,\
         dropped_down,dropped_filter"
    )?;
    // Only a run with an observer has columns of limits. They have the order of the first path with limits.
    let all = || measured.flows.iter().flat_map(|flow| &flow.paths);
    let limits: Vec<&str> = all()
        .find(|path| !path.limits.is_empty())
        .map_or_else(Vec::new, |path| path.limits.iter().map(|(name, _)| *name).collect());
    let seen: Vec<&str> = all()
        .find(|path| !path.sender_limits.is_empty())
        .map_or_else(Vec::new, |path| path.sender_limits.iter().map(|(name, _)| *name).collect());
    for limit in &limits {
        write!(out, ",limit_{limit}")?;
    }
    for limit in &seen {
        write!(out, ",limit_sender_{limit}")?;
    }
    writeln!(out, "{}", if limits.is_empty() { "" } else { ",blamed" })?;
    for flow in &measured.flows {
        for path in &flow.paths {
            write!(out, "{who},{},{},{}", quoted(&flow.flow), quoted(&path.path), path.subflows)?;
            write!(out, ",{},{}", path.bytes_sent, path.bytes_arrived)?;
            write!(out, ",{},{}", path.bytes_acked, path.retransmits)?;
            write!(out, ",{},{},{}", path.timeouts, path.reinjected, path.mean_srtt)?;
            write!(out, ",{},{}", said(path.capacity), said(path.best_capacity))?;
            write!(out, ",{},{}", said(path.base_rtt), said(path.ack_wait))?;
            write!(out, ",{}", path.ack_queue.as_deref().map(quoted).unwrap_or_default())?;
            let drops = path.drops;
            write!(out, ",{}", said(drops.map(|drops| drops.random)))?;
            write!(out, ",{}", said(drops.map(|drops| drops.queue)))?;
            write!(out, ",{}", said(drops.map(|drops| drops.down)))?;
            write!(out, ",{}", said(drops.map(|drops| drops.filter)))?;
            for limit in &limits {
                let share = path.limits.iter().find(|(name, _)| name == limit);
                write!(out, ",{}", said(share.map(|(_, share)| *share)))?;
            }
            for limit in &seen {
                let share = path.sender_limits.iter().find(|(name, _)| name == limit);
                write!(out, ",{}", said(share.map(|(_, share)| *share)))?;
            }
            let blamed = said(Some(path.blamed).filter(|_| !path.limits.is_empty()));
            writeln!(out, "{}", if limits.is_empty() { blamed } else { format!(",{blamed}") })?;
        }
    }
    Ok(())
}

fn links(out: &mut impl Write, who: &str, measured: &Measurements) -> io::Result<()> {
    write!(
        out,
        "run,seed,variant,link,direction,offered_frames,sent_frames,sent_bytes,queue_drops,random_losses,mac_retries,\
         mac_drops,longest_queue,busy,capacity"
    )?;
    // Optional columns.
    type Of = fn(&LinkSummary) -> Option<u64>;
    let some: [(&str, Of); 3] = [
        ("queue_marks", |link| link.queue_marks),
        ("duplicated", |link| link.duplicated),
        ("corrupted", |link| link.corrupted),
    ];
    let some = || some.iter().filter(|(_, of)| measured.links.iter().any(|link| of(link).is_some()));
    for (name, _) in some() {
        write!(out, ",{name}")?;
    }
    writeln!(out)?;
    for link in &measured.links {
        write!(out, "{who},{},{},{}", quoted(&link.link), link.direction, link.offered_frames)?;
        write!(out, ",{},{},{}", link.sent_frames, link.sent_bytes, link.queue_drops)?;
        write!(out, ",{},{},{}", link.random_losses, link.mac_retries, link.mac_drops)?;
        write!(out, ",{},{},{}", link.longest_queue, link.busy, said(link.capacity))?;
        for (_, of) in some() {
            write!(out, ",{}", of(link).map_or_else(String::new, |count| count.to_string()))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn blocks(out: &mut impl Write, who: &str, measured: &Measurements) -> io::Result<()> {
    writeln!(out, "run,seed,variant,flow,written_s,latency_s")?;
    for flow in &measured.flows {
        let name = quoted(&flow.flow);
        for block in &flow.blocks {
            let (written, latency) = (block.written_at.as_secs_f64(), block.latency.as_secs_f64());
            writeln!(out, "{who},{name},{written},{latency}")?;
        }
    }
    Ok(())
}

fn said(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A quoted CSV field (RFC 4180 section 2).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
