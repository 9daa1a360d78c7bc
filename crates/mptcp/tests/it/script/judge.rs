//! Describes the segments of the host in the format of scripts.
//!
//! Owns the checks of keys, tokens, HMACs, checksums and payload. Right values are omitted, wrong ones are `wrong`. Learns
//! the numbers of the host from its first segments.

use mptcp_wire::crypto::add_address_hmac;
use mptcp_wire::{AddAddress, Checksum, DataSequence, Dss, MpCapable, MpJoin, MptcpOption, Segment, Seq};

use super::pattern::{Opt, Pattern};
use super::peer::{Peer, stream};

impl Peer {
    /// The description of a segment that was sent at this time [ms]. A new flow gets the expected name.
    pub fn judge(&mut self, segment: &Segment, milliseconds: u64, expected: Option<&str>) -> Pattern {
        let at = self.flow_of(segment.source, segment.destination, expected);
        if segment.flags.syn() {
            self.flows[at].iss.get_or_insert(segment.sequence);
        }
        self.learn(segment, at, milliseconds);
        let (iss, isn) = (self.flows[at].iss.unwrap_or_default(), self.isn);
        let ack = segment.flags.ack().then(|| distance(segment.acknowledgment, isn));
        let mut pattern = Pattern {
            flow: self.flows[at].name.clone(),
            flags: segment.flags,
            seq: Some(distance(segment.sequence, iss)),
            ack,
            win: Some(segment.window),
            len: segment.payload.len() as u32,
            urg: segment.urgent,
            ecn: segment.ecn,
            ..Pattern::default()
        };
        pattern.junk = !self.carries_the_stream(segment, distance(segment.sequence, iss));
        self.describe(segment, at, &mut pattern.options);
        pattern
    }

    fn learn(&mut self, segment: &Segment, at: usize, milliseconds: u64) {
        if let Some(timestamps) = segment.options.timestamps {
            self.flows[at].clock.get_or_insert(timestamps.value.wrapping_sub(milliseconds as u32));
        }
        if let Some(cookie) = segment.options.fast_open.as_ref().filter(|_| segment.flags.ack()) {
            self.given = Some(cookie.clone());
        }
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Capable(MpCapable { sender_key: Some(key), .. }) => {
                    self.host_key.get_or_insert(*key);
                }
                MptcpOption::Join(MpJoin::Syn { nonce, .. } | MpJoin::SynAck { nonce, .. }) => {
                    self.flows[at].host_nonce = *nonce;
                }
                _ => {}
            }
        }
    }

    /// Whether the payload is the data of the application, if its place is known.
    fn carries_the_stream(&self, segment: &Segment, seq: i64) -> bool {
        let mut place = seq - 1 + i64::from(segment.flags.syn());
        match segment.options.dss {
            Some(Dss { mapping: Some(mapping), .. }) if mapping.length > 0 => {
                let first = mapping.sequence.expand(self.host_first()).wrapping_sub(self.host_first());
                place = first as i64 - 1 + seq - i64::from(mapping.subflow_sequence);
            }
            // An earlier segment had the mapping.
            Some(_) => return true,
            None => {}
        }
        let length = segment.payload.len() as u64;
        u64::try_from(place).map_or(length == 0, |place| segment.payload == stream(place, length))
    }

    fn describe(&self, segment: &Segment, at: usize, found: &mut Vec<Opt>) {
        let options = &segment.options;
        found.extend(options.mss.map(|mss| Opt::new("mss").with("", mss)));
        found.extend(options.window_scale.map(|shift| Opt::new("wscale").with("", shift)));
        found.extend(options.sack_permitted.then(|| Opt::new("sackok")));
        if !options.sack.is_empty() {
            let edge = |edge: Seq| distance(edge, self.isn);
            let blocks = options.sack.iter().map(|&(left, right)| format!("{}-{}", edge(left), edge(right)));
            found.push(Opt::new("sack").with("", blocks.collect::<Vec<_>>().join(" ")));
        }
        if let Some(timestamps) = options.timestamps {
            let own = timestamps.value.wrapping_sub(self.flows[at].clock.unwrap_or(0)) as i32;
            found.push(Opt::new("ts").with("", format!("{own}/{}", timestamps.echo)));
        }
        if let Some(cookie) = &options.fast_open {
            let hex: String = cookie.iter().map(|byte| format!("{byte:02x}")).collect();
            let text = match self.given.as_ref() {
                _ if cookie.is_empty() => "request".into(),
                Some(given) if given == cookie => "given".into(),
                _ => format!("0x{hex}"),
            };
            found.push(Opt::new("tfo").with("", text));
        }
        found.extend(options.dss.map(|dss| self.describe_dss(dss, segment)));
        found.extend(options.mptcp.iter().map(|option| self.describe_mptcp(option, at, segment)));
    }

    fn describe_dss(&self, dss: Dss, segment: &Segment) -> Opt {
        let width = |number: DataSequence| number.length();
        let mut option = Opt::new("dss");
        if let Some(ack) = dss.ack {
            let number = ack.expand(self.first()).wrapping_sub(self.first()) as i64;
            option = option.with("ack", number).with("ackw", width(ack));
        }
        if let Some(mapping) = dss.mapping {
            let whole = mapping.sequence.expand(self.host_first());
            let number = whole.wrapping_sub(self.host_first()) as i64;
            option = option.with("dsn", number).with("dsnw", width(mapping.sequence));
            option = option.with("ssn", mapping.subflow_sequence).with("dlen", mapping.length);
            if let Some(checksum) = mapping.checksum {
                let mut sum = Checksum::dss(whole, mapping.subflow_sequence, mapping.length);
                sum.add(&segment.payload);
                // RFC 8684 section 3.7: the infinite mapping has none.
                let right = if mapping.length == 0 { 0 } else { sum.value() };
                option = option.with("csum", if right == checksum { "yes" } else { "wrong" });
            }
        }
        if dss.data_fin { option.with("fin", "yes") } else { option }
    }

    fn describe_mptcp(&self, option: &MptcpOption, at: usize, segment: &Segment) -> Opt {
        let host_key = self.host_key.unwrap_or(0);
        match option {
            MptcpOption::Capable(capable) => self.describe_capable(capable, segment),
            MptcpOption::Join(join) => self.describe_join(join, at),
            MptcpOption::AddAddress(AddAddress { echo, id, address, port, hmac }) => {
                let mut text = Opt::new("add_addr").with("id", id).with("addr", address);
                if let Some(port) = port {
                    text = text.with("port", port);
                }
                if *echo {
                    text = text.with("echo", "yes");
                }
                let right = add_address_hmac(host_key, self.key, *id, *address, *port);
                match hmac {
                    None if *echo => text,
                    Some(hmac) if *hmac == right && !echo => text,
                    Some(_) => text.with("hmac", "wrong"),
                    None => text.with("hmac", "none"),
                }
            }
            MptcpOption::RemoveAddress(remove) => {
                let ids: Vec<_> = remove.ids.iter().map(u8::to_string).collect();
                Opt::new("remove_addr").with("", ids.join(" "))
            }
            MptcpOption::Prio(prio) => {
                let text =
                    prio.address_id.map_or(Opt::new("mp_prio"), |id| Opt::new("mp_prio").with("id", id));
                if prio.backup { text.with("backup", "yes") } else { text }
            }
            MptcpOption::Fail(number) => {
                Opt::new("mp_fail").with("dsn", number.wrapping_sub(self.first()) as i64)
            }
            MptcpOption::FastClose(key) if *key == self.key => Opt::new("mp_fastclose"),
            MptcpOption::FastClose(_) => Opt::new("mp_fastclose").with("key", "wrong"),
            MptcpOption::TcpRst(reset) => {
                Opt::new("mp_tcprst").with("reason", reset.reason.0).with("flags", reset.flags)
            }
        }
    }

    fn describe_capable(&self, capable: &MpCapable, segment: &Segment) -> Opt {
        let mut text =
            Opt::new("mp_capable").with("v", capable.version).with("flags", format!("{:02x}", capable.flags));
        if capable.sender_key.is_some_and(|key| Some(key) != self.host_key) {
            text = text.with("key", "wrong");
        }
        if capable.receiver_key.is_some_and(|key| key != self.key) {
            text = text.with("peer_key", "wrong");
        }
        let keys = (capable.sender_key.is_some(), capable.receiver_key.is_some());
        let form = match keys {
            (false, _) => "syn",
            (true, false) => "synack",
            (true, true) => "ack",
        };
        let expected = match (segment.flags.syn(), segment.flags.ack()) {
            (true, false) if capable.version > 0 => "syn",
            (true, _) => "synack",
            _ => "ack",
        };
        if form != expected {
            text = text.with("form", form);
        }
        if let Some((length, checksum)) = capable.data {
            text = text.with("dlen", length);
            if let Some(checksum) = checksum {
                let mut sum = Checksum::dss(self.host_first().wrapping_add(1), 1, length);
                sum.add(&segment.payload);
                text = text.with("csum", if sum.value() == checksum { "yes" } else { "wrong" });
            }
        }
        text
    }

    fn describe_join(&self, join: &MpJoin, at: usize) -> Opt {
        let (host_key, nonce) = (self.host_key.unwrap_or(0), self.flows[at].host_nonce);
        let mut text = Opt::new("mp_join");
        match *join {
            MpJoin::Syn { backup, address_id, token, .. } => {
                text = text.with("id", address_id);
                text = if backup { text.with("backup", "yes") } else { text };
                if token == self.version.digest(self.key).token { text } else { text.with("token", "wrong") }
            }
            MpJoin::SynAck { backup, address_id, hmac, .. } => {
                text = text.with("id", address_id);
                text = if backup { text.with("backup", "yes") } else { text };
                let right = self.version.join_hmac_truncated(host_key, self.key, nonce, self.nonce);
                if hmac == right { text } else { text.with("hmac", "wrong") }
            }
            MpJoin::Ack { hmac } => {
                let right = self.version.join_hmac(host_key, self.key, nonce, self.nonce);
                if hmac == right { text } else { text.with("hmac", "wrong") }
            }
        }
    }
}

fn distance(number: Seq, base: Seq) -> i64 {
    i64::from(number.offset_from(base))
}
