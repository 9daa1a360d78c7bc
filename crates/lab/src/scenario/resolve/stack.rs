//! Defaults of flow keys, by the stack of the flow: mptcplab or the Linux kernel.
//!
//! With `stack = "linux"`, a flow has the defaults of the kernel, for comparisons with Linux. The flow can
//! override each of these keys. The type `Waiting` groups settings for data that waits to be sent or
//! reinjected, and the timers of MPTCP.

use mptcp_clock::Duration;

use super::context::Context;
use crate::scenario::error::ScenarioError;
use crate::scenario::file::{FlowTable, PolicyValue};
use crate::scenario::model::Waiting;
use crate::scenario::names::{CouplingScope, Ecn, Reinjection, SlowStart, Stack, Transport};

/// Default interval of probes of failed paths.
pub(in crate::scenario) const PROBE: Duration = Duration::from_secs(1);
/// Default retransmission timeout of ADD_ADDR.
pub(in crate::scenario) const ANNOUNCE: Duration = Duration::from_secs(3);
/// `net.mptcp.add_addr_timeout` of Linux (net/mptcp/ctrl.c).
const ANNOUNCE_LINUX: Duration = Duration::from_secs(120);
/// `net.mptcp.blackhole_timeout` of Linux, in the same file.
const BLACKHOLE_LINUX: Option<Duration> = Some(Duration::from_secs(3600));
const CUBIC: &str = "cubic";

/// The defaults of a flow.
pub(super) struct Defaults {
    /// Whether the stack is Linux.
    pub linux: bool,
    /// The transport protocol.
    pub transport: Transport,
    cubic: bool,
}

impl Defaults {
    pub(super) fn of(table: &FlowTable, transport: Transport) -> Self {
        let linux = table.stack == Some(Stack::Linux);
        let cubic = match &table.congestion {
            None => linux,
            Some(PolicyValue::Name(name)) => name == CUBIC,
            Some(PolicyValue::Table(table)) => table.get("kind").and_then(toml::Value::as_str) == Some(CUBIC),
        };
        Self { linux, transport, cubic }
    }

    /// The congestion controller. By default, Linux uses CUBIC with kernel arithmetic (net/ipv4/tcp_cubic.c),
    /// independent per subflow.
    pub(super) fn congestion(&self, table: &FlowTable) -> PolicyValue {
        let mut values = match &table.congestion {
            Some(PolicyValue::Table(values)) => values.clone(),
            Some(PolicyValue::Name(name)) => kind(name),
            None if self.linux => kind(CUBIC),
            None if self.transport == Transport::Mptcp => kind("lia"),
            None => kind("reno"),
        };
        if self.linux && self.cubic {
            values.entry("as").or_insert_with(|| "linux".into());
        }
        match values.get("kind").and_then(toml::Value::as_str) {
            Some(name) if values.len() == 1 => PolicyValue::Name(name.to_owned()),
            _ => PolicyValue::Table(values),
        }
    }

    /// net/mptcp/sched.c, `mptcp_sched_default`.
    pub(super) fn scheduler(&self) -> &'static str {
        if self.linux { "linux" } else { "ontime" }
    }

    /// Linux does not detect shared bottlenecks.
    pub(super) fn coupling_scope(&self) -> CouplingScope {
        if self.linux { CouplingScope::All } else { CouplingScope::Shared }
    }

    /// HyStart is part of CUBIC (net/ipv4/tcp_cubic.c).
    pub(super) fn slow_start(&self) -> SlowStart {
        if self.linux && self.cubic { SlowStart::HyStart } else { SlowStart::Standard }
    }

    /// Linux paces only with the fq discipline or a controller that requires pacing (net/ipv4/tcp_output.c,
    /// `tcp_needs_internal_pacing`).
    pub(super) fn pacing(&self) -> bool {
        !self.linux && self.transport == Transport::Mptcp
    }

    /// Documentation/networking/ip-sysctl.rst, `tcp_ecn`.
    pub(super) fn ecn(&self) -> Ecn {
        if self.linux { Ecn::Passive } else { Ecn::Off }
    }

    pub(super) fn waiting(
        &self,
        context: &Context<'_>,
        name: &str,
        table: &FlowTable,
    ) -> Result<Waiting, ScenarioError> {
        let linux = self.linux;
        let (rule, announce) = match linux {
            true => (Reinjection::DataLevel, ANNOUNCE_LINUX),
            false => (Reinjection::Timeout, ANNOUNCE),
        };
        let probe = table.failed_path_probe.map(|span| Some(span.0).filter(|pause| !pause.is_zero()));
        let reinjection = table.reinjection.unwrap_or(rule);
        let late = reinjection == Reinjection::DataLevel;
        let waiting = Waiting {
            subflow_queues: table.subflow_queues.unwrap_or(linux),
            buffer_memory: table.buffer_memory.unwrap_or(linux),
            reinjection,
            windows_by_subflow: table.windows_by_subflow.unwrap_or(linux && late),
            failed_path_probe: probe.unwrap_or(Some(PROBE).filter(|_| !linux)),
            wide_data_acks: table.wide_data_acks.unwrap_or(linux),
            add_addr_timeout: table.add_addr_timeout.map_or(announce, |span| span.0),
            blackhole_timeout: table.blackhole_timeout.map_or(BLACKHOLE_LINUX.filter(|_| linux), |span| {
                Some(span.0).filter(|time| !time.is_zero())
            }),
        };
        if waiting.windows_by_subflow && !late {
            let problem = "needs reinjection = \"data_level\": only the data-level timer retransmits data that the peer drops";
            return Err(context.error(&["flows", name, "windows_by_subflow"], problem));
        }
        if late && !waiting.subflow_queues {
            let key = if table.reinjection.is_some() { "reinjection" } else { "subflow_queues" };
            let problem = "needs per-subflow queues for data_level (try subflow_queues = true, or reinjection = \"timeout\")";
            return Err(context.error(&["flows", name, key], problem));
        }
        Ok(waiting)
    }
}

fn kind(name: &str) -> toml::Table {
    toml::Table::from_iter([("kind".to_owned(), toml::Value::String(name.to_owned()))])
}
