//! Reads a packetdrill script's `ip` and `sysctl` commands and turns them into settings of the endpoint.
//!
//! `tools/conformance` replaces both commands by programs that only record their arguments. Owns the parsing of this
//! record: one command per line, words separated by tabs. Never runs a command. Ignores commands without a meaning for
//! the stack (queueing disciplines, cached metrics) and unsupported settings.

use std::net::IpAddr;

use mptcp::policy::Policies;
use mptcp::{Announced, Config, Ecn, LinuxCompat, MtuProbing, SpuriousLoss};
use mptcp_clock::Duration;

use crate::fast_open::FastOpenSettings;

/// The supported settings, with the kernel's defaults.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) mptcp: bool,
    pub(crate) fast_open: FastOpenSettings,
    /// Addresses added by `ip addr add`.
    pub(crate) addresses: Vec<IpAddr>,
    /// `tcp_wmem`: minimum, initial and maximum size of send buffers, in bytes.
    pub(crate) send_buffer: [u64; 3],
    /// `net.core.wmem_max`, in bytes.
    pub(crate) largest_buffer: u32,
    /// `tcp_min_tso_segs`: minimum number of segments in a burst.
    pub(crate) least_burst: u64,
    /// `tcp_notsent_lowat`, in bytes.
    pub(crate) notsent_lowat: u64,
    /// `tcp_congestion_control` for TCP sockets. MPTCP sockets use the endpoint's controller.
    pub(crate) congestion: &'static str,
    config: Config,
    endpoints: Vec<Announced>,
}

impl Default for Settings {
    fn default() -> Self {
        let mut config = Config {
            receive_buffer: 6 << 20,
            max_subflows: 2,
            announce_timeout: Duration::from_secs(120),
            linux_compat: LinuxCompat::LINUX,
            spurious_loss: Some(SpuriousLoss::LINUX),
            ecn: Some(Ecn::Passive),
            restart_after_idle: Some(true),
            ..Config::default()
        };
        config.mechanisms.autotuning = true;
        Self {
            mptcp: true,
            fast_open: FastOpenSettings::default(),
            addresses: Vec::new(),
            send_buffer: [4_096, 16_384, 4 << 20],
            largest_buffer: 4 << 20,
            least_burst: 2,
            notsent_lowat: u32::MAX.into(),
            congestion: "cubic",
            config,
            endpoints: Vec::new(),
        }
    }
}

impl Settings {
    /// Applies all commands of a record to the defaults.
    pub(crate) fn read(record: &str) -> Self {
        let mut settings = Self::default();
        for line in record.lines() {
            let words: Vec<&str> = line.split('\t').filter(|word| !word.is_empty()).collect();
            match words.as_slice() {
                ["sysctl", arguments @ ..] => arguments.iter().for_each(|word| settings.sysctl(word)),
                ["ip", arguments @ ..] => settings.ip(arguments),
                _ => {}
            }
        }
        settings
    }

    /// The configuration of a connection.
    pub(crate) fn config(&self) -> Config {
        Config { announce: Some(self.endpoints.clone()), ..self.config.clone() }
    }

    fn sysctl(&mut self, word: &str) {
        let Some((key, value)) = word.split_once('=') else { return };
        let number = value.split_whitespace().next_back().and_then(number);
        let Some(number) = number else { return self.text_sysctl(key, value) };
        let config = &mut self.config;
        match key.replace('/', ".").as_str() {
            "net.mptcp.enabled" => self.mptcp = number != 0,
            "net.mptcp.checksum_enabled" => config.checksum = number != 0,
            "net.mptcp.add_addr_timeout" => config.announce_timeout = Duration::from_secs(number),
            "net.mptcp.blackhole_timeout" => {
                let timeout = Some(Duration::from_secs(number));
                config.linux_stack.blackhole_timeout = timeout.filter(|timeout| !timeout.is_zero());
            }
            "net.mptcp.close_timeout" => config.close_timeout = Duration::from_secs(number),
            "net.ipv4.tcp_timestamps" => config.timestamps = number != 0,
            "net.ipv4.tcp_ecn" => {
                config.ecn = Some(match number {
                    0 => Ecn::Off,
                    1 => Ecn::On,
                    _ => Ecn::Passive,
                });
            }
            "net.ipv4.tcp_slow_start_after_idle" => config.restart_after_idle = Some(number != 0),
            "net.ipv4.tcp_sack" => config.sack = number != 0,
            "net.ipv4.tcp_recovery" => config.rack = number != 0,
            // The last of the three numbers is the maximum.
            "net.ipv4.tcp_rmem" => config.receive_buffer = number,
            "net.ipv4.tcp_wmem" => {
                config.send_buffer = number;
                let mut sizes = value.split_whitespace().filter_map(|word| word.parse().ok());
                self.send_buffer = self.send_buffer.map(|size| sizes.next().unwrap_or(size));
            }
            "net.core.wmem_max" => self.largest_buffer = number.min(u32::MAX.into()) as u32,
            "net.ipv4.tcp_min_tso_segs" => self.least_burst = number,
            "net.ipv4.tcp_notsent_lowat" => self.notsent_lowat = number,
            "net.ipv4.tcp_frto" => config.spurious_loss.get_or_insert_default().frto = number != 0,
            "net.ipv4.tcp_mtu_probing" => {
                config.mtu_probing = match number {
                    0 => MtuProbing::Off,
                    1 => MtuProbing::BlackHole,
                    _ => MtuProbing::On,
                };
            }
            "net.ipv4.tcp_syn_retries" => config.syn_retries = number.min(127) as u32,
            "net.ipv4.tcp_fastopen" => self.fast_open.mode = number,
            _ => {}
        }
    }

    fn text_sysctl(&mut self, key: &str, value: &str) {
        if key.replace('/', ".") == "net.ipv4.tcp_congestion_control" {
            let known = Policies::default().congestion.names().find(|name| *name == value);
            self.congestion = known.unwrap_or(self.congestion);
        }
        if key.replace('/', ".") == "net.ipv4.tcp_fastopen_key"
            && let Some(key) = crate::fast_open::parse_key(value)
        {
            self.fast_open.key = key;
        }
    }

    fn ip(&mut self, arguments: &[&str]) {
        let arguments = match arguments {
            ["-6" | "-4", rest @ ..] => rest,
            all => all,
        };
        match arguments {
            ["addr" | "address", "add", address, ..] => {
                let address = address.split('/').next().unwrap_or_default();
                self.addresses.extend(address.parse::<IpAddr>().ok());
            }
            ["mptcp", "endpoint", "flush"] => self.endpoints.clear(),
            ["mptcp", "endpoint", "add", address, options @ ..] => self.add_endpoint(address, options),
            ["mptcp", "limits", "set", options @ ..] => {
                for pair in options.chunks(2) {
                    if let ["subflows", count] = pair {
                        self.config.max_subflows = count.parse().unwrap_or(self.config.max_subflows);
                    }
                }
            }
            _ => {}
        }
    }

    /// Adds an announced endpoint. Other endpoints are ignored, because no script uses them.
    fn add_endpoint(&mut self, address: &str, options: &[&str]) {
        if !options.contains(&"signal") {
            return;
        }
        let place = options.iter().position(|&word| word == "id");
        let named = place.and_then(|place| options.get(place + 1)).and_then(|id| id.parse().ok());
        let free = || (1..=u8::MAX).find(|id| self.endpoints.iter().all(|known| known.id != *id));
        if let (Ok(address), Some(id)) = (address.parse(), named.or_else(free)) {
            self.endpoints.push(Announced { id, address });
        }
    }
}

/// Parses a number as sysctl(8) does, decimal or hexadecimal.
fn number(text: &str) -> Option<u64> {
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sysctls_reach_the_configuration() {
        let record = "sysctl\t-q\tnet.ipv4.tcp_rmem=4096 540000 15728640\n\
            sysctl\t-wq\tnet.mptcp.add_addr_timeout=1\nsysctl\t-q\tnet/ipv4/tcp_syn_retries=1\n\
            sysctl\t-q\tnet.ipv4.tcp_fastopen=0x602\n";
        let settings = Settings::read(record);
        let config = settings.config();
        assert_eq!(config.receive_buffer, 15 << 20);
        assert_eq!(config.announce_timeout, Duration::from_secs(1));
        assert_eq!(config.syn_retries, 1);
        assert_eq!(settings.fast_open.mode, 0x602);
    }

    #[test]
    fn endpoints_come_and_go() {
        let record = "ip\tmptcp\tendpoint\tadd\t10.0.0.9\tsignal\nip\tmptcp\tendpoint\tflush\n\
            ip\taddr\tadd\t10.0.0.2/16\tdev\ttun0\nip\tmptcp\tendpoint\tadd\t10.0.0.2\tsignal\n\
            ip\t-6\tmptcp\tendpoint\tadd\t2001:db8::1\tid\t7\tsignal\n\
            ip\tmptcp\tlimits\tset\tadd_addr_accepted\t8\tsubflows\t8\n";
        let settings = Settings::read(record);
        let config = settings.config();
        let ids: Vec<u8> = config.announce.iter().flatten().map(|endpoint| endpoint.id).collect();
        assert_eq!(ids, [1, 7]);
        assert_eq!(config.max_subflows, 8);
        assert_eq!(settings.addresses.len(), 1);
    }
}
