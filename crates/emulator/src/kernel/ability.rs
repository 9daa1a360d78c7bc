//! Compares a scenario with the abilities of the kernel, and selects the closest socket options and sysctls.
//!
//! Owns the list of differences, which the results of a run on kernel sockets show. Never queries the
//! machine; the caller provides the available controllers. Keys for the internals of TCP, such as the end of
//! slow start, are not compared (docs/emulate.md).

use mptcp_clock::Duration;
use mptcp_lab::scenario::names::{Ecn, SendQueueRule, Transport, Version};
use mptcp_lab::scenario::{Flow, Scenario, Traffic};
use mptcp_live::kernel::Options;

use crate::error::EmulatorError;

/// The controller that every kernel has (net/ipv4/tcp_cong.c).
const ALWAYS: &str = "reno";
/// The only scheduler of the kernel, and its names in scenarios.
const SCHEDULER: [&str; 2] = ["default", "linux"];
/// The path manager of scenarios that behaves like the kernel's with `subflow` endpoints and a peer with one
/// address.
const PATH_MANAGER: &str = "fullmesh";

/// Maximum number of endpoints (MPTCP_PM_ADDR_MAX in net/mptcp/protocol.h).
const MAX_ENDPOINTS: usize = 8;
/// Minimum buffer of autotuning, bytes (tcp_rmem in Documentation/networking/ip-sysctl.rst).
const LEAST_BUFFER: u64 = 4096;
/// Minimum sampling interval: the interval at which link counters are read.
const LEAST_SAMPLE: Duration = Duration::from_millis(50);

/// A feature that the kernel lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The flow that needs it.
    pub flow: String,
    /// The feature.
    pub what: String,
    /// The closest setting.
    pub closest: String,
}

/// A sysctl of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of the host.
    pub host: String,
    /// The name, such as `net.ipv4.tcp_sack`.
    pub key: &'static str,
    /// Its value.
    pub value: String,
}

/// The settings for a scenario on the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ability {
    /// Socket options by flow.
    pub options: Vec<Options>,
    /// Missing features; empty if the scenario is fully supported.
    pub lacks: Vec<Lack>,
    /// Sysctls, at most one per key and host.
    pub settings: Vec<Setting>,
}

impl Ability {
    /// Compares a scenario with a kernel that has these controllers. `ours` is the prefix of controllers that
    /// mptcplab loads, such as `mptcplab_` (docs/kernel-policies.md).
    ///
    /// # Errors
    /// A feature to which no setting of the kernel comes close.
    pub fn of(scenario: &Scenario, controllers: &[String], ours: &str) -> Result<Self, EmulatorError> {
        let mut ability = Self::default();
        if scenario.sample < LEAST_SAMPLE {
            return Err(EmulatorError::Sample { sample: scenario.sample, least: LEAST_SAMPLE });
        }
        for flow in &scenario.flows {
            refuse(scenario, flow)?;
            let options = ability.options(flow, controllers, ours);
            ability.options.push(options);
            ability.add_settings(flow)?;
        }
        Ok(ability)
    }

    fn options(&mut self, flow: &Flow, controllers: &[String], ours: &str) -> Options {
        let mut lack = |what: String, closest: &str| {
            self.lacks.push(Lack { flow: flow.name.clone(), what, closest: closest.to_owned() });
        };
        let wanted = flow.congestion.kind();
        let names = [wanted.to_owned(), format!("{ours}{wanted}")];
        let congestion = names.into_iter().find(|name| controllers.contains(name)).unwrap_or_else(|| {
            lack(format!("congestion {wanted}"), ALWAYS);
            ALWAYS.to_owned()
        });
        if flow.transport == Transport::Mptcp {
            if flow.version != Version::V1 {
                lack(format!("version {}", flow.version), Version::V1.name());
            }
            if !SCHEDULER.contains(&flow.scheduler.kind()) {
                lack(format!("scheduler {}", flow.scheduler.kind()), SCHEDULER[0]);
            }
            if flow.path_manager.kind() != PATH_MANAGER {
                lack(format!("path_manager {}", flow.path_manager.kind()), PATH_MANAGER);
            }
            let mechanisms = &flow.mechanisms;
            for (on, name) in [
                (mechanisms.opportunistic_retransmission, "opportunistic_retransmission (M1)"),
                (mechanisms.penalisation, "penalisation (M2)"),
                (mechanisms.cwnd_capping, "cwnd_capping (M4)"),
            ] {
                if on {
                    lack(name.to_owned(), "none");
                }
            }
        }
        if flow.send_queue_rule != SendQueueRule::Off {
            lack(format!("send_queue_rule {}", flow.send_queue_rule), SendQueueRule::Off.name());
        }
        // With autotuning (M3), buffers grow up to the given size, as in the kernel up to the sysctls.
        let fixed =
            |bytes: u64| (!flow.mechanisms.autotuning).then(|| u32::try_from(bytes).unwrap_or(u32::MAX / 2));
        Options {
            multipath: flow.transport == Transport::Mptcp,
            congestion,
            receive_buffer: fixed(flow.tcp.rcvbuf),
            send_buffer: fixed(flow.tcp.sndbuf),
            nodelay: !flow.tcp.nagle,
            segment: flow.tcp.mss,
        }
    }

    /// Adds the sysctls that a flow needs on both of its hosts.
    fn add_settings(&mut self, flow: &Flow) -> Result<(), EmulatorError> {
        let tcp = &flow.tcp;
        let number = |on: bool| u8::from(on).to_string();
        // Documentation/networking/ip-sysctl.rst: 2 accepts ECN, 1 also requests ECN.
        let ecn = match tcp.ecn {
            Ecn::Off => "0",
            Ecn::On => "1",
            Ecn::Passive => "2",
        };
        let mut wanted = vec![
            ("net.ipv4.tcp_sack", number(tcp.sack)),
            ("net.ipv4.tcp_timestamps", number(tcp.timestamps)),
            ("net.ipv4.tcp_ecn", ecn.to_owned()),
        ];
        if flow.transport == Transport::Mptcp {
            wanted.push(("net.mptcp.checksum_enabled", number(flow.checksum)));
        }
        if flow.mechanisms.autotuning {
            wanted.push(("net.ipv4.tcp_rmem", limits(131_072, tcp.rcvbuf)));
            wanted.push(("net.ipv4.tcp_wmem", limits(16_384, tcp.sndbuf)));
        }
        for host in [&flow.from, &flow.to] {
            for (key, value) in &wanted {
                let known = self.settings.iter().find(|known| known.host == *host && known.key == *key);
                match known {
                    Some(known) if known.value != *value => {
                        return Err(EmulatorError::Setting {
                            host: host.clone(),
                            key,
                            flow: flow.name.clone(),
                        });
                    }
                    Some(_) => {}
                    None => {
                        self.settings.push(Setting { host: host.clone(), key, value: value.clone() });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Minimum, initial and maximum buffer of autotuning, bytes.
fn limits(first: u64, window: u64) -> String {
    // Twice the maximum window, because a buffer also holds overhead.
    let most = window.saturating_mul(2);
    format!("{} {} {most}", LEAST_BUFFER.min(most), first.min(most))
}

/// Refuses features to which no setting of the kernel comes close.
fn refuse(scenario: &Scenario, flow: &Flow) -> Result<(), EmulatorError> {
    let traffic = match &flow.traffic {
        Traffic::Bulk | Traffic::File { .. } => None,
        Traffic::Blocks { .. } => Some("blocks"),
        Traffic::Custom(_) => Some("a custom application"),
        Traffic::Datagrams { .. } => Some("datagrams"),
    };
    if let Some(what) = traffic {
        return Err(EmulatorError::Traffic { flow: flow.name.clone(), what });
    }
    if flow.ports().is_some() {
        return Err(EmulatorError::Ports(flow.name.clone()));
    }
    if flow.transport == Transport::Mptcp && flow.paths.len() > MAX_ENDPOINTS {
        let (flow, paths) = (flow.name.clone(), flow.paths.len());
        return Err(EmulatorError::Endpoints { flow, paths, most: MAX_ENDPOINTS });
    }
    let multipath = |other: &&Flow| other.transport == Transport::Mptcp && other.from == flow.from;
    let sorted = |paths: &[String]| {
        let mut paths = paths.to_vec();
        paths.sort_unstable();
        paths
    };
    let first = scenario.flows.iter().find(multipath).filter(|_| flow.transport == Transport::Mptcp);
    match first {
        Some(first) if sorted(&first.paths) != sorted(&flow.paths) => {
            Err(EmulatorError::Paths(first.name.clone(), flow.name.clone()))
        }
        Some(first) if sorted(&first.backup) != sorted(&flow.backup) => {
            Err(EmulatorError::Backup(first.name.clone(), flow.name.clone()))
        }
        _ => Ok(()),
    }
}
