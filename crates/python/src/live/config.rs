//! Converts the dictionary from `mptcplab.live.Config` to the configuration of a connection.
//!
//! Owns the check of names and buffer sizes.

use mptcp_live::congestion::CongestionControl;
use mptcp_live::policy::Factory;
use mptcp_live::scheduler::Scheduler;
use mptcp_live::{Config, Version};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::scenario::registry;

/// The dictionary; see `ConfigTable` in `_core.pyi`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Table {
    multipath: bool,
    version: String,
    checksum: bool,
    congestion: String,
    scheduler: String,
    opportunistic_retransmission: bool,
    penalisation: bool,
    autotuning: bool,
    cwnd_capping: bool,
    receive_buffer: u64,
    send_buffer: u64,
    nodelay: bool,
    max_subflows: u8,
}

impl Table {
    pub(super) fn config(&self) -> PyResult<Config> {
        let mut config = Config {
            multipath: self.multipath,
            version: version(&self.version)?,
            checksum: self.checksum,
            congestion: congestion(&self.congestion)?,
            scheduler: scheduler(&self.scheduler)?,
            receive_buffer: buffer("receive_buffer", self.receive_buffer)?,
            send_buffer: buffer("send_buffer", self.send_buffer)?,
            nagle: !self.nodelay,
            max_subflows: self.max_subflows,
            ..Config::default()
        };
        let mechanisms = &mut config.mechanisms;
        mechanisms.opportunistic_retransmission = self.opportunistic_retransmission;
        mechanisms.penalisation = self.penalisation;
        mechanisms.autotuning = self.autotuning;
        mechanisms.cwnd_capping = self.cwnd_capping;
        Ok(config)
    }
}

fn unknown(what: &str, name: &str, names: &[&str]) -> PyErr {
    PyValueError::new_err(format!("unknown {what} {name:?}; use {}", names.join(", ")))
}

fn version(name: &str) -> PyResult<Version> {
    match name {
        "v0" => Ok(Version::V0),
        "v1" => Ok(Version::V1),
        _ => Err(unknown("version", name, &["v0", "v1"])),
    }
}

pub(super) fn congestion(name: &str) -> PyResult<Factory<dyn CongestionControl>> {
    registry().policies().congestion.find(name).map_err(|error| PyValueError::new_err(error.to_string()))
}

pub(super) fn scheduler(name: &str) -> PyResult<Factory<dyn Scheduler>> {
    registry().policies().schedulers.find(name).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Checks a buffer size: 2 kB to 1 GB, the largest window (RFC 7323 section 2.3).
fn buffer(name: &str, bytes: u64) -> PyResult<u64> {
    if (2_048..=1 << 30).contains(&bytes) {
        return Ok(bytes);
    }
    Err(PyValueError::new_err(format!("{name} = {bytes}: must be between 2048 and 1073741824 bytes")))
}
