//! The calls of applications and administrators in scripts.
//!
//! Owns the names of calls, and applies them to the endpoint.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcp::{Config, IcmpError, IcmpMessage, InterfaceChange, Keepalive, WriteFlags};

use super::compose::shift;
use super::host::Host;
use super::peer::{HOST, PEER, Peer, byte_at, stream};
use super::text::{duration, number, switch};

/// Bytes of the stream that the application has written and read.
#[derive(Debug, Default)]
pub struct Application {
    written: u64,
    read: u64,
}

impl Application {
    /// Performs the call of a line; `words` is not empty.
    pub fn call(
        &mut self,
        host: &mut Host,
        peer: &mut Peer,
        config: &Config,
        words: &[&str],
    ) -> Result<(), String> {
        let now = host.now();
        match *words {
            ["listen"] => host.endpoint.listen(80, config.clone()).map_err(|error| error.to_string())?,
            ["listen", "backlog", places] => {
                let places = number("the backlog", places)?;
                let listened = host.endpoint.listen_on(80, config.clone(), None, Some(places));
                listened.map_err(|error| error.to_string())?;
            }
            ["unlisten"] => {
                host.endpoint.unlisten(80);
            }
            ["accept"] => host.endpoint.accept(host.id()?),
            ["connect"] => self.connect(host, (PEER, 1000).into(), config)?,
            ["connect", to] => self.connect(host, socket(to)?, config)?,
            ["connect_fast_open", length] => self.fast_open(host, config, length, true)?,
            ["connect_fast_open", length, "cookieless"] => self.fast_open(host, config, length, false)?,
            ["write", length] => self.write(host, length, length, WriteFlags::default())?,
            ["write", length, "takes", most] => self.write(host, length, most, WriteFlags::default())?,
            ["write", length, "more"] => {
                self.write(host, length, length, WriteFlags { more: true, ..WriteFlags::default() })?;
            }
            ["write", length, "record"] => {
                self.write(
                    host,
                    length,
                    length,
                    WriteFlags { end_of_record: true, ..WriteFlags::default() },
                )?;
            }
            ["read", length] => self.read(host, length, false)?,
            ["read", length, "junk"] => self.read(host, length, true)?,
            ["close"] => host.endpoint.close(now, host.id()?),
            ["abort"] => host.endpoint.abort(now, host.id()?),
            ["discard"] => host.endpoint.discard(now, host.id()?),
            ["nodelay", on] => host.endpoint.set_nodelay(now, host.id()?, switch(on)?),
            ["cork", on] => host.endpoint.set_cork(now, host.id()?, switch(on)?),
            ["user_timeout", "off"] => host.endpoint.set_user_timeout(now, host.id()?, None),
            ["user_timeout", most] => {
                host.endpoint.set_user_timeout(now, host.id()?, Some(duration(most)?));
            }
            ["notsent_lowat", most] => {
                let most = number("the limit", most)?;
                host.endpoint.set_notsent_lowat(now, host.id()?, Some(most));
            }
            ["keepalive", "off"] => host.endpoint.set_keepalive(now, host.id()?, None),
            ["keepalive", idle, interval, probes] => {
                let (idle, interval) = (duration(idle)?, duration(interval)?);
                let keepalive = Keepalive { idle, interval, probes: number("the probes", probes)? };
                host.endpoint.set_keepalive(now, host.id()?, Some(keepalive));
            }
            ["join", from, to] => {
                let from = host.interface(address(from)?)?;
                if !host.endpoint.open_subflow(now, host.id()?, from, socket(to)?) {
                    return Err("the endpoint did not open this subflow".into());
                }
            }
            ["close_subflow", name] => {
                let at = peer.flow(Some(name).filter(|name| *name != "first"));
                let subflow = host.subflow(&peer.flows[at]).ok_or("there is no such subflow")?;
                host.endpoint.close_subflow(now, host.id()?, subflow.id);
            }
            ["link", interface, change] => {
                let interface = host.interface(address(interface)?)?;
                let change = match change {
                    "up" => InterfaceChange::Up,
                    "down" => InterfaceChange::Down,
                    "backup" => InterfaceChange::Backup(true),
                    "regular" => InterfaceChange::Backup(false),
                    _ => return Err(format!("link = `{change}`: must be up, down, backup or regular")),
                };
                host.endpoint.handle_interface(now, interface, change);
            }
            ["icmp", error, "seq", seq, believed] => self.icmp(host, peer, error, seq, believed)?,
            _ => return Err(format!("unknown call `{}`", words.join(" "))),
        }
        host.collect()
    }

    fn connect(&mut self, host: &mut Host, to: SocketAddr, config: &Config) -> Result<(), String> {
        let interface = host.interface(HOST)?;
        let opened = host.endpoint.connect(host.now(), interface, to, config.clone());
        (self.written, self.read) = (0, 0);
        host.connection = Some(opened.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn fast_open(
        &mut self,
        host: &mut Host,
        config: &Config,
        length: &str,
        cookies: bool,
    ) -> Result<(), String> {
        let interface = host.interface(HOST)?;
        self.read = 0;
        self.written = number("the length", length)?;
        let data = Bytes::from(stream(0, self.written));
        let (now, to) = (host.now(), (PEER, 1000).into());
        let opened = host.endpoint.connect_fast_open(now, interface, to, config.clone(), data, cookies);
        host.connection = Some(opened.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn write(
        &mut self,
        host: &mut Host,
        length: &str,
        expected: &str,
        flags: WriteFlags,
    ) -> Result<(), String> {
        let (length, expected): (u64, u64) = (number("the length", length)?, number("the length", expected)?);
        let data = Bytes::from(stream(self.written, length));
        let taken = host.endpoint.write_with(host.now(), host.id()?, data, flags) as u64;
        self.written += taken;
        if taken == expected {
            Ok(())
        } else {
            Err(format!("the endpoint accepted {taken} bytes, not {expected}"))
        }
    }

    fn read(&mut self, host: &mut Host, length: &str, junk: bool) -> Result<(), String> {
        let (length, id): (usize, _) = (number("the length", length)?, host.id()?);
        let mut found = Vec::new();
        while found.len() < length
            && let Some(data) = host.endpoint.read(host.now(), id)
        {
            found.extend_from_slice(&data);
        }
        if found.len() != length {
            return Err(format!("read {} bytes, not {length}", found.len()));
        }
        let wrong =
            |(at, byte): (usize, &u8)| *byte != byte_at(self.read + at as u64) ^ if junk { 0xff } else { 0 };
        if let Some(at) = found.iter().enumerate().position(wrong) {
            return Err(format!("byte {} of the stream differs from the sent one", self.read + at as u64));
        }
        self.read += length as u64;
        Ok(())
    }

    fn icmp(
        &mut self,
        host: &mut Host,
        peer: &mut Peer,
        error: &str,
        seq: &str,
        believed: &str,
    ) -> Result<(), String> {
        let error = match error {
            "network" => IcmpError::NetworkUnreachable,
            "host" => IcmpError::HostUnreachable,
            "protocol" => IcmpError::ProtocolUnreachable,
            "port" => IcmpError::PortUnreachable,
            "prohibited" => IcmpError::Prohibited,
            "time" => IcmpError::TimeExceeded,
            error if error.starts_with("too-big(") => {
                let mtu = error.trim_start_matches("too-big(").trim_end_matches(')');
                IcmpError::TooBig { mtu: number("the MTU", mtu)? }
            }
            _ => {
                return Err(format!(
                    "ICMP says network, host, protocol, port, prohibited, time, too-big(MTU), not `{error}`"
                ));
            }
        };
        let at = peer.flow(None);
        let flow = &peer.flows[at];
        let sequence = shift(flow.iss.unwrap_or_default(), Some(number("seq", seq)?));
        let message = IcmpMessage { local: flow.host, remote: flow.peer, sequence, error };
        let was = if host.endpoint.handle_icmp(host.now(), message) { "believed" } else { "ignored" };
        if was == believed { Ok(()) } else { Err(format!("the message was {was}, not {believed}")) }
    }
}

fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| format!("`{text}`: expected an address"))
}

fn socket(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("`{text}`: expected an address with a port, such as 192.0.2.1:1000"))
}
