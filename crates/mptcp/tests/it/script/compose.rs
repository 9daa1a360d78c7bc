//! Composes the segments of the peer from lines of a script.
//!
//! Owns the values that a script omits: keys, tokens, HMACs, checksums, payload.

use mptcp_wire::crypto::add_address_hmac;
use mptcp_wire::{
    AddAddress, Checksum, Cookie, DataSequence, Dss, Flags, Mapping, MpCapable, MpJoin, MpPrio, MpTcpRst,
    MptcpOption, RemoveAddress, ResetReason, Segment, Seq, Timestamps,
};

use super::pattern::{Opt, Pattern};
use super::peer::{Peer, stream};
use super::text::number;

impl Peer {
    /// The segment of a line behind `<`.
    pub fn compose(&mut self, pattern: &Pattern) -> Result<Segment, String> {
        let at = self.flow(pattern.flow.as_deref());
        if pattern.fresh {
            (self.flows[at].iss, self.flows[at].clock) = (None, None);
        }
        let flow = self.flows[at].clone();
        let mut segment = Segment::new(flow.peer, flow.host);
        segment.flags = pattern.flags;
        segment.sequence = shift(self.isn, pattern.seq);
        if pattern.flags.ack() {
            segment.acknowledgment = shift(flow.iss.unwrap_or_default(), pattern.ack);
        }
        segment.window = pattern.win.unwrap_or(self.window);
        segment.urgent = pattern.urg;
        segment.ecn = pattern.ecn;
        let mut place = (pattern.seq.unwrap_or(0) - 1).max(0) as u64;
        if let Some(dss) = pattern.options.iter().find(|option| option.name == "dss")
            && let (Some(dsn), Some(ssn)) = (dss.number::<i64>("dsn")?, dss.number::<i64>("ssn")?)
        {
            place = (dsn - 1 + pattern.seq.unwrap_or(0) - ssn).max(0) as u64;
        }
        let mut payload = stream(place, pattern.len.into());
        if pattern.junk {
            payload.iter_mut().for_each(|byte| *byte ^= 0xff);
        }
        segment.payload = payload.into();
        for option in &pattern.options {
            self.add(option, at, &mut segment)?;
        }
        Ok(segment)
    }

    fn add(&self, option: &Opt, at: usize, segment: &mut Segment) -> Result<(), String> {
        let options = &mut segment.options;
        let lacks = |what: &str| format!("{} lacks {what}", option.name);
        let value = || option.get("").ok_or_else(|| lacks("its value in parentheses"));
        match option.name.as_str() {
            "mss" => options.mss = Some(number("the MSS", value()?)?),
            "wscale" => options.window_scale = Some(number("the shift", value()?)?),
            "sackok" => options.sack_permitted = true,
            "sack" => {
                for block in value()?.split_whitespace() {
                    let (left, right) = block.split_once('-').ok_or("a block is written LEFT-RIGHT")?;
                    let iss = self.flows[at].iss.unwrap_or_default();
                    let place =
                        |text| number("the edge of a block", text).map(|place| shift(iss, Some(place)));
                    options
                        .sack
                        .try_push((place(left)?, place(right)?))
                        .map_err(|_| "four blocks at most")?;
                }
            }
            "ts" => {
                let (own, echo) = value()?.split_once('/').ok_or("timestamps are written VALUE/ECHO")?;
                let echo: i64 = number("the echo", echo)?;
                let echo = match self.flows[at].clock {
                    None => echo as u32,
                    Some(clock) => clock.wrapping_add(echo as u32),
                };
                options.timestamps = Some(Timestamps { value: number("the timestamp", own)?, echo });
            }
            "tfo" => options.fast_open = Some(self.cookie(option.get("").unwrap_or("request"))?),
            "dss" => {
                let dss = self.dss(option, segment)?;
                segment.options.dss = Some(dss);
            }
            _ => {
                let option = self.mptcp(option, at, segment)?;
                segment.options.mptcp.push(option);
            }
        }
        Ok(())
    }

    fn cookie(&self, text: &str) -> Result<Cookie, String> {
        match text {
            "request" => Ok(Cookie::new()),
            "given" => self.given.clone().ok_or_else(|| "the host has given no cookie yet".into()),
            text => {
                let digits =
                    text.strip_prefix("0x").ok_or("a cookie is `request`, `given` or 0x and its bytes")?;
                let byte =
                    |at: usize| digits.get(at..at + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok());
                let bytes: Option<Vec<_>> = (0..digits.len()).step_by(2).map(byte).collect();
                let bytes = bytes.ok_or_else(|| format!("`{text}`: expected hexadecimal bytes"))?;
                Cookie::try_from(bytes.as_slice()).map_err(|_| "a cookie has 16 bytes at most".into())
            }
        }
    }

    fn dss(&self, option: &Opt, segment: &Segment) -> Result<Dss, String> {
        let ack = option.number::<i64>("ack")?.map(|ack| {
            let number = self.host_first().wrapping_add_signed(ack);
            if option.get("ackw") == Some("4") {
                DataSequence::Short(number as u32)
            } else {
                DataSequence::Wide(number)
            }
        });
        let mapping = match option.number::<i64>("dsn")? {
            None => None,
            Some(dsn) => {
                let whole = self.first().wrapping_add_signed(dsn);
                let narrow = option.get("dsnw") == Some("4");
                let sequence =
                    if narrow { DataSequence::Short(whole as u32) } else { DataSequence::Wide(whole) };
                let subflow_sequence = option.number("ssn")?.unwrap_or(0);
                let length = option.number("dlen")?.unwrap_or(0);
                let mut sum = Checksum::dss(whole, subflow_sequence, length);
                sum.add(&segment.payload);
                let checksum = option.get("csum").map(|word| sum.value() ^ u16::from(word != "yes"));
                Some(Mapping { sequence, subflow_sequence, length, checksum })
            }
        };
        Ok(Dss { ack, mapping, data_fin: option.has("fin") })
    }

    fn mptcp(&self, option: &Opt, at: usize, segment: &Segment) -> Result<MptcpOption, String> {
        let host_key = self.host_key.unwrap_or(0);
        let turn = |value: u64, name: &str| if option.get(name) == Some("wrong") { value ^ 1 } else { value };
        Ok(match option.name.as_str() {
            "mp_capable" => self.capable(option, segment)?,
            "mp_join" => self.join(option, at, segment.flags)?,
            "add_addr" => {
                let address = option.get("addr").ok_or("add_addr lacks addr=ADDRESS")?;
                let address = address.parse().map_err(|_| format!("`{address}`: expected an address"))?;
                let (id, port) = (option.number("id")?.unwrap_or(1), option.number("port")?);
                let echo = option.has("echo");
                let hmac = add_address_hmac(self.key, host_key, id, address, port);
                let hmac = (!echo && option.get("hmac") != Some("none")).then(|| turn(hmac, "hmac"));
                MptcpOption::AddAddress(AddAddress { echo, id, address, port, hmac })
            }
            "remove_addr" => {
                let mut ids = RemoveAddress::default();
                for id in option.get("").ok_or("remove_addr lacks its ids in parentheses")?.split_whitespace()
                {
                    ids.ids.try_push(number("an address id", id)?).map_err(|_| "37 ids at most")?;
                }
                MptcpOption::RemoveAddress(ids)
            }
            "mp_prio" => {
                MptcpOption::Prio(MpPrio { backup: option.has("backup"), address_id: option.number("id")? })
            }
            "mp_fail" => {
                let dsn: i64 = option.number("dsn")?.ok_or("mp_fail lacks dsn=NUMBER")?;
                MptcpOption::Fail(self.host_first().wrapping_add_signed(dsn))
            }
            "mp_fastclose" => MptcpOption::FastClose(turn(host_key, "key")),
            "mp_tcprst" => {
                let reason = ResetReason(option.number("reason")?.ok_or("mp_tcprst lacks reason=NUMBER")?);
                MptcpOption::TcpRst(MpTcpRst { flags: option.number("flags")?.unwrap_or(0), reason })
            }
            name => return Err(format!("a peer cannot send `{name}`")),
        })
    }

    fn capable(&self, option: &Opt, segment: &Segment) -> Result<MptcpOption, String> {
        let host =
            self.host_key.map(|key| if option.get("peer_key") == Some("wrong") { key ^ 1 } else { key });
        let form = option.get("form").unwrap_or(match (segment.flags.syn(), segment.flags.ack()) {
            (true, false) => "syn",
            (true, true) => "synack",
            _ if segment.payload.is_empty() => "ack",
            _ => "data",
        });
        let version = option.number("v")?.unwrap_or(self.version.number());
        let flags = option.get("flags").unwrap_or("01");
        let flags = u8::from_str_radix(flags, 16)
            .map_err(|_| format!("`{flags}`: expected two hexadecimal digits"))?;
        let own = Some(self.key);
        let (sender_key, receiver_key) = match form {
            "syn" if version == 0 => (own, None),
            "syn" => (None, None),
            "synack" => (own, None),
            "ack" | "data" => (own, Some(host.ok_or("the host's key was not seen yet")?)),
            _ => return Err(format!("form = `{form}`: must be syn, synack, ack or data")),
        };
        let length: Option<u16> = option.number("dlen")?;
        let data = length.filter(|_| form == "data").map(|length| {
            let mut sum = Checksum::dss(self.first().wrapping_add(1), 1, length);
            sum.add(&segment.payload);
            (length, option.get("csum").map(|word| sum.value() ^ u16::from(word != "yes")))
        });
        Ok(MptcpOption::Capable(MpCapable { version, flags, sender_key, receiver_key, data }))
    }

    fn join(&self, option: &Opt, at: usize, flags: Flags) -> Result<MptcpOption, String> {
        let host_key = self.host_key.ok_or("the host's key was not seen yet")?;
        let (backup, address_id) = (option.has("backup"), option.number("id")?.unwrap_or(0));
        let wrong = |name: &str| u8::from(option.get(name) == Some("wrong"));
        let nonce = option.number("nonce")?.unwrap_or(self.nonce);
        let host_nonce = self.flows[at].host_nonce;
        Ok(MptcpOption::Join(match (flags.syn(), flags.ack()) {
            (true, false) => {
                let token = self.version.digest(host_key).token ^ u32::from(wrong("token"));
                MpJoin::Syn { backup, address_id, token, nonce }
            }
            (true, true) => {
                let hmac = self.version.join_hmac_truncated(self.key, host_key, nonce, host_nonce);
                MpJoin::SynAck { backup, address_id, hmac: hmac ^ u64::from(wrong("hmac")), nonce }
            }
            _ => {
                let mut hmac = self.version.join_hmac(self.key, host_key, nonce, host_nonce);
                hmac[0] ^= wrong("hmac");
                MpJoin::Ack { hmac }
            }
        }))
    }
}

/// A relative number as a header field.
pub fn shift(base: Seq, by: Option<i64>) -> Seq {
    base + by.unwrap_or(0) as u32
}
