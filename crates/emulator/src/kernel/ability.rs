//! What the kernel can do of what a scenario asks for, and what is nearest to the rest.
//!
//! Only compares: nothing here asks the machine, which controllers there are is told. Keys of a flow that say how its TCP works inside,
//! such as when slow start ends, are the kernel's own business and are not compared (docs/emulate.md).

use mptcp_clock::Duration;
use mptcp_lab::scenario::names::{Ecn, SendQueueRule, Transport, Version};
use mptcp_lab::scenario::{Flow, Scenario, Traffic};
use mptcp_live::kernel::Options;

use crate::error::EmulatorError;

/// The controller that is there in every kernel (net/ipv4/tcp_cong.c).
const ALWAYS: &str = "reno";
/// The only scheduler of the kernel's, and the names by which a scenario may ask for it.
const SCHEDULER: [&str; 2] = ["default", "linux"];
/// What the kernel's path manager does with endpoints of the kind `subflow`, for a peer with one address.
const PATH_MANAGER: &str = "fullmesh";

/// Endpoints of a host (net/mptcp/protocol.h, MPTCP_PM_ADDR_MAX).
const MOST_ENDPOINTS: usize = 8;
/// Least buffer of autotuning, bytes (Documentation/networking/ip-sysctl.rst, tcp_rmem).
const LEAST_BUFFER: u64 = 4096;
/// Between two looks at the links; samples that are closer would see none of their own.
const LEAST_SAMPLE: Duration = Duration::from_millis(50);

/// Something that the kernel cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The flow that asks for it.
    pub flow: String,
    /// What it asks for.
    pub what: String,
    /// What is nearest to it.
    pub closest: String,
}

/// A sysctl that a host needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name of the node.
    pub host: String,
    /// Such as `net.ipv4.tcp_sack`.
    pub key: &'static str,
    /// What it is set to.
    pub value: String,
}

/// What the kernel makes of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ability {
    /// By flow.
    pub options: Vec<Options>,
    /// What it cannot do; empty when all is as it is asked for.
    pub lacks: Vec<Lack>,
    /// No two for one key of a host.
    pub settings: Vec<Setting>,
}

impl Ability {
    /// Compares a scenario with a kernel that has these controllers; the names of those that we loaded there are a scenario's with
    /// `ours` before them, such as `mptcplab_` (docs/kernel-policies.md).
    ///
    /// # Errors
    /// What nothing is near to.
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
        // With M3 buffers grow up to what is given; so they do in the kernel, up to the sysctls.
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

    /// What is said once for a host.
    fn add_settings(&mut self, flow: &Flow) -> Result<(), EmulatorError> {
        let tcp = &flow.tcp;
        let number = |on: bool| u8::from(on).to_string();
        // Documentation/networking/ip-sysctl.rst: 2 takes it from who asks, 1 asks.
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

/// Least, first and largest buffer of autotuning, bytes.
fn limits(first: u64, window: u64) -> String {
    // Twice the largest window: a buffer holds what the kernel needs around the bytes, too.
    let most = window.saturating_mul(2);
    format!("{} {} {most}", LEAST_BUFFER.min(most), first.min(most))
}

/// What nothing is near to.
fn refuse(scenario: &Scenario, flow: &Flow) -> Result<(), EmulatorError> {
    let traffic = match &flow.traffic {
        Traffic::Bulk | Traffic::File { .. } => None,
        Traffic::Blocks { .. } => Some("blocks"),
        Traffic::Custom(_) => Some("an application of another kind"),
        Traffic::Datagrams { .. } => Some("datagrams"),
    };
    if let Some(what) = traffic {
        return Err(EmulatorError::Traffic { flow: flow.name.clone(), what });
    }
    if flow.ports().is_some() {
        return Err(EmulatorError::Ports(flow.name.clone()));
    }
    if flow.transport == Transport::Mptcp && flow.paths.len() > MOST_ENDPOINTS {
        let (flow, paths) = (flow.name.clone(), flow.paths.len());
        return Err(EmulatorError::Endpoints { flow, paths, most: MOST_ENDPOINTS });
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
