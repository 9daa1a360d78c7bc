//! The settings of the stack, by their names in `Config`.
//!
//! Applies `set KEY VALUE` to a `Config`.

use mptcp::policy::Policies;
use mptcp::{
    Announced, Config, Ecn, JOIN_PROBATION, LinuxCompat, MtuProbing, OpportunisticRule, PenaltyRule,
    ServerFastOpen, SlowStart, Version,
};

use super::text::{duration, number, switch};

/// The key of Fast Open cookies.
const COOKIE_KEY: [u64; 2] = [11, 12];

/// `stack NAME`: the initial configuration.
pub fn stack(name: &str) -> Result<Config, String> {
    match name {
        "tcp" => Ok(Config::tcp()),
        "mptcp" => Ok(Config::default()),
        "linux" => Ok(Config { linux_compat: LinuxCompat::LINUX, ..Config::default() }),
        _ => Err(format!("stack = `{name}`: must be tcp, mptcp or linux")),
    }
}

/// `set KEY VALUE`.
pub fn set(config: &mut Config, key: &str, value: &str) -> Result<(), String> {
    if let Some(key) = key.strip_prefix("linux_compat.") {
        *habit(&mut config.linux_compat, key)? = switch(value)?;
        return Ok(());
    }
    if let Some(key) = key.strip_prefix("mechanisms.") {
        return mechanism(config, key, value);
    }
    match key {
        "multipath" => config.multipath = switch(value)?,
        "checksum" => config.checksum = switch(value)?,
        "wide_data_acks" => config.wide_data_acks = switch(value)?,
        "sack" => config.sack = switch(value)?,
        "timestamps" => config.timestamps = switch(value)?,
        "rack" => config.rack = switch(value)?,
        "spurious_loss.undo" => config.spurious_loss.get_or_insert_default().undo = switch(value)?,
        "spurious_loss.frto" => config.spurious_loss.get_or_insert_default().frto = switch(value)?,
        "ecn" => {
            config.ecn = Some(match value {
                "off" => Ecn::Off,
                "passive" => Ecn::Passive,
                "on" => Ecn::On,
                _ => return Err(format!("ecn = `{value}`: must be off, passive or on")),
            });
        }
        "restart_after_idle" => config.restart_after_idle = Some(switch(value)?),
        "mtu_probing" => {
            config.mtu_probing = match value {
                "off" => MtuProbing::Off,
                "blackhole" => MtuProbing::BlackHole,
                "on" => MtuProbing::On,
                _ => return Err(format!("mtu_probing = `{value}`: must be off, blackhole or on")),
            };
        }
        "abe" => config.abe = switch(value)?,
        "slow_start" => {
            config.slow_start = match value {
                "standard" => SlowStart::Standard,
                "hystart++" => SlowStart::HyStartPlusPlus,
                "hystart" => SlowStart::HyStart,
                _ => return Err(format!("slow_start = `{value}`: must be standard, hystart++ or hystart")),
            }
        }
        "byte_counting" => config.byte_counting = switch(value)?,
        "delayed_ack" => config.delayed_ack = switch(value)?,
        "nagle" => config.nagle = switch(value)?,
        "join_initial_address" => config.join_initial_address = switch(value)?,
        "syn_cookies" => config.syn_cookies = switch(value)?,
        "version" => config.version = if value == "0" { Version::V0 } else { Version::V1 },
        "receive_buffer" => config.receive_buffer = number(key, value)?,
        "send_buffer" => config.send_buffer = number(key, value)?,
        "mss" => config.mss = number(key, value)?,
        "initial_window" => config.initial_window = number(key, value)?,
        "initial_ssthresh" => config.initial_ssthresh = Some(number(key, value)?),
        "max_subflows" => config.max_subflows = number(key, value)?,
        "syn_retries" => config.syn_retries = number(key, value)?,
        "min_rto" => config.min_rto = duration(value)?,
        "user_timeout" => config.user_timeout = Some(duration(value)?),
        "notsent_lowat" => config.notsent_lowat = Some(number(key, value)?),
        "announce_timeout" => config.announce_timeout = duration(value)?,
        "close_timeout" => config.close_timeout = duration(value)?,
        "join_probation" => {
            config.join_probation =
                if value == "default" { Some(JOIN_PROBATION) } else { Some(duration(value)?) };
        }
        "announce" => {
            let (id, address) = value.split_once('=').ok_or("an announcement is written ID=ADDRESS")?;
            let address = address.parse().map_err(|_| format!("`{address}`: expected an address"))?;
            let announced = Announced { id: number("an address id", id)?, address };
            config.announce.get_or_insert_default().push(announced);
        }
        "fast_open" => {
            let cookies = match value {
                "cookies" => true,
                "anything" => false,
                _ => return Err(format!("fast_open = `{value}`: must be cookies or anything")),
            };
            config.fast_open = Some(ServerFastOpen { key: COOKIE_KEY, old_key: None, cookies });
        }
        "congestion" => config.congestion = policy(Policies::default().congestion.find(value))?,
        "scheduler" => config.scheduler = policy(Policies::default().schedulers.find(value))?,
        "path_manager" => config.path_manager = policy(Policies::default().path_managers.find(value))?,
        _ => return Err(format!("unknown setting `{key}`; the names are those of `mptcp::Config`")),
    }
    Ok(())
}

fn policy<T, E: std::fmt::Display>(found: Result<T, E>) -> Result<T, String> {
    found.map_err(|error| error.to_string())
}

fn mechanism(config: &mut Config, key: &str, value: &str) -> Result<(), String> {
    let mechanisms = &mut config.mechanisms;
    match key {
        "opportunistic_retransmission" => mechanisms.opportunistic_retransmission = switch(value)?,
        "opportunistic_rule" => {
            mechanisms.opportunistic_rule = match value {
                "original" => OpportunisticRule::Original,
                "sooner" => OpportunisticRule::AllBeneficial,
                "early" => OpportunisticRule::Speculative,
                _ => {
                    return Err(format!("opportunistic_rule = `{value}`: must be original, sooner or early"));
                }
            };
        }
        "penalisation" => mechanisms.penalisation = switch(value)?,
        "autotuning" => mechanisms.autotuning = switch(value)?,
        "cwnd_capping" => mechanisms.cwnd_capping = switch(value)?,
        "penalty_rule" => {
            mechanisms.penalty_rule = match value {
                "original" => PenaltyRule::Original,
                "later" => PenaltyRule::Later,
                _ => return Err(format!("penalty_rule = `{value}`: must be original or later")),
            };
        }
        _ => return Err(format!("unknown mechanism `{key}`")),
    }
    Ok(())
}

fn habit<'a>(habits: &'a mut LinuxCompat, key: &str) -> Result<&'a mut bool, String> {
    Ok(match key {
        "early_announcements" => &mut habits.early_announcements,
        "quiet_after_handshake" => &mut habits.quiet_after_handshake,
        "echo_before_join" => &mut habits.echo_before_join,
        "acknowledge_before_fin" => &mut habits.acknowledge_before_fin,
        "plain_time_wait" => &mut habits.plain_time_wait,
        "data_fin_everywhere" => &mut habits.data_fin_everywhere,
        "quick_data_fin" => &mut habits.quick_data_fin,
        "push_where_writes_end" => &mut habits.push_where_writes_end,
        "fin_with_data" => &mut habits.fin_with_data,
        "minshall" => &mut habits.minshall,
        "steady_join_ack" => &mut habits.steady_join_ack,
        "window_use_by_round" => &mut habits.cwnd_limited_per_round,
        "pingpong" => &mut habits.pingpong,
        _ => return Err(format!("unknown key `{key}` of linux_compat")),
    })
}
