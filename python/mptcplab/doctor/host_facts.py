"""Facts about the hosts of a connection, for the verdicts of `mptcplab doctor` and for people.

Owns which host a text is about, the counters that matter, and their meaning. Texts are parsed by `host_texts`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mptcplab.doctor.host_texts import HostText, Socket

Side = Literal["client", "server"]

COUNTERS = {
    "MPTcpExtBlackhole": "SYNs with MPTCP vanished; Linux then opens connections as TCP for a while",
    "MPTcpExtMPCapableSYNTXDrop": "connections that became TCP because SYNs with MPTCP got no answer",
    "MPTcpExtMPCapableSYNTXDisabled": "connections opened as TCP because of earlier unanswered SYNs",
    "MPTcpExtMPCapableFallbackSYNACK": "connections of this client that the peer's SYN/ACK made TCP",
    "MPTcpExtMPCapableFallbackACK": "connections to this server that the client's ACK made TCP",
    "MPTcpExtMPFallbackTokenInit": "connections without a free token, which became TCP",
    "MPTcpExtMPCapableDataFallback": "connections that became TCP at their first data",
    "MPTcpExtDssFallback": "connections that became TCP because of missing or wrong DSS options",
    "MPTcpExtDSSCorruptionFallback": "connections that became TCP because of a wrong checksum",
    "MPTcpExtDSSCorruptionReset": "subflows that were reset because of a wrong checksum",
    "MPTcpExtDataCsumErr": "wrong DSS checksums",
    "MPTcpExtInfiniteMapTx": "infinite mappings sent, each the end of MPTCP on a connection",
    "MPTcpExtInfiniteMapRx": "infinite mappings received, each the end of MPTCP on a connection",
    "MPTcpExtMPFailTx": "MP_FAIL options sent",
    "MPTcpExtMPFailRx": "MP_FAIL options received",
    "MPTcpExtMPJoinRejected": "joins rejected, for example by the limit of subflows",
    "MPTcpExtMPJoinNoTokenFound": "joins of unknown connections",
    "MPTcpExtMPJoinSynAckHMacFailure": "SYN/ACKs to joins with a wrong HMAC",
    "MPTcpExtMPJoinAckHMacFailure": "ACKs of joins with a wrong HMAC",
    "MPTcpExtMPJoinSynTxBindErr": "joins that could not bind their local address",
    "MPTcpExtMPJoinSynTxConnectErr": "joins that could not be sent, for example without a route",
    "MPTcpExtMPJoinSynTxCreatSkErr": "joins without a socket",
    "MPTcpExtAddAddrDrop": "announced addresses that were ignored",
    "MPTcpExtAddAddrTxDrop": "announcements that could not be sent",
    "MPTcpExtMPRstTx": "subflows reset by this host (MP_TCPRST)",
    "MPTcpExtMPRstRx": "subflows reset by the peer (MP_TCPRST)",
    "MPTcpExtMPFastcloseRx": "connections aborted by the peer (MP_FASTCLOSE)",
    "MPTcpExtSubflowStale": "subflows that stopped working",
    "MPTcpExtSubflowRecover": "subflows that work again",
    "MPTcpExtNoDSSInWindow": "data outside the receive window of the connection",
    "MPTcpExtDSSNotMatching": "mappings that do not fit the data",
    "TcpRetransSegs": "segments retransmitted",
    "TcpExtTCPTimeouts": "retransmission timeouts",
    "TcpExtTCPSynRetrans": "SYNs retransmitted",
    "TcpExtListenOverflows": "connections refused because the accept queue was full",
    "TcpExtTCPReqQFullDrop": "SYNs dropped because the SYN queue was full",
    "TcpExtSyncookiesSent": "SYN cookies sent; the SYN queue was full",
    "TcpExtIPReversePathFilter": "packets dropped by the reverse path filter (rp_filter)",
    "TcpExtTCPRcvQDrop": "segments dropped because the receive buffer was full",
    "TcpExtTCPOFODrop": "out-of-order segments dropped because the receive buffer was full",
    "TcpExtPruneCalled": "times that the receive buffer was full, and data was compacted or dropped",
    "TcpExtTCPBacklogDrop": "segments dropped because the socket was busy",
    "TcpExtTCPZeroWindowDrop": "segments dropped because the window was closed",
    "TcpExtTCPMemoryPressures": "times that TCP ran low on memory (net.ipv4.tcp_mem)",
    "TcpExtTCPWqueueTooBig": "writes refused because the send queue was too long",
    "IpOutNoRoutes": "packets without a route",
    "IpOutDiscards": "packets dropped before they were sent",
    "IpInDiscards": "packets dropped after they were received",
}
"""Counters that explain problems if they are not 0, those of MPTCP first."""

_BLACKHOLE = ("MPTcpExtBlackhole", "MPTcpExtMPCapableSYNTXDrop", "MPTcpExtMPCapableSYNTXDisabled")


@dataclass(frozen=True)
class Host:
    """The texts of one host."""

    side: Side | None
    """Its side in the captured connections, if it is known."""
    texts: tuple[HostText, ...]

    @property
    def files(self) -> list[str]:
        """The names of the files."""
        return [one.name for one in self.texts]

    @property
    def limits(self) -> tuple[int, int] | None:
        """The limits of additional subflows and of accepted addresses."""
        for one in self.texts:
            if one.subflow_limit is not None and one.add_addr_accepted is not None:
                return one.subflow_limit, one.add_addr_accepted
        return None

    @property
    def endpoints(self) -> list[dict[str, Any]] | None:
        """Its endpoints; None if no text has them."""
        lists = [one.endpoints for one in self.texts if one.endpoints is not None]
        if not lists:
            return None
        return [{"address": one.address, "id": one.number, "flags": list(one.flags)} for part in lists for one in part]

    @property
    def counters(self) -> dict[str, int]:
        """Counters that are not 0 and matter."""
        merged = self.all_counters
        return {name: merged[name] for name in COUNTERS if merged.get(name)}

    @property
    def all_counters(self) -> dict[str, int]:
        """All counters of the texts."""
        merged: dict[str, int] = {}
        for one in self.texts:
            merged |= one.counters or {}
        return merged

    @property
    def sockets(self) -> list[Socket]:
        """Its sockets."""
        return [socket for one in self.texts for socket in one.sockets or ()]

    def document(self) -> dict[str, Any]:
        """The host as an entry of the JSON report."""
        limits = self.limits
        types = set().union(*(one.types for one in self.texts))
        return {
            "side": self.side,
            "files": self.files,
            "subflow_limit": limits and limits[0],
            "add_addr_accepted": limits and limits[1],
            "endpoints": self.endpoints,
            "counters": self.counters if "counters" in types else None,
            "mptcp_sockets": sum(one.is_mptcp for one in self.sockets) if "sockets" in types else None,
            "fallback_sockets": sum(one.is_fallback for one in self.sockets) if "sockets" in types else None,
        }


def hosts(texts: Iterable[HostText], clients: frozenset[str], servers: frozenset[str]) -> list[Host]:
    """Groups texts by host. `clients` and `servers` are addresses of hosts that sent and received SYNs.

    Names of files that contain *client* or *server* decide first, then the addresses in `ss` and `ip mptcp endpoint`.
    The remaining texts belong to the only known host; without one, they are of a host with an unknown side.
    """
    texts = list(texts)
    sides = [_side(one, clients, servers) for one in texts]
    known = {side for side in sides if side is not None}
    if len(known) == 1:
        only = known.pop()
        taken: set[str] = set().union(*(one.types for one, side in zip(texts, sides, strict=True) if side))
        for number, one in enumerate(texts):
            if sides[number] is None:
                sides[number] = only if not one.types & taken else _other(only)
    order: tuple[Side | None, ...] = ("client", "server", None)
    grouped = ((side, tuple(one for one, its in zip(texts, sides, strict=True) if its == side)) for side in order)
    return [Host(side, own) for side, own in grouped if own]


def _other(side: Side) -> Side:
    return "server" if side == "client" else "client"


def _side(text: HostText, clients: frozenset[str], servers: frozenset[str]) -> Side | None:
    name = Path(text.name).name.lower()
    if ("client" in name) != ("server" in name):
        return "client" if "client" in name else "server"
    is_client, is_server = bool(text.addresses & clients), bool(text.addresses & servers)
    if is_client != is_server:
        return "client" if is_client else "server"
    return None


def core_facts(found: Sequence[Host]) -> str | None:
    """The JSON that the core reads; None without texts.

    A limit of the server decides nothing about joins of the client, unless it is 0. The endpoints of a server only
    announce addresses, so that a server without endpoints is no fault.
    """
    if not found:
        return None
    opening = [one for one in found if one.side != "server"]
    limits = [one.limits for one in opening if one.limits]
    refused = any(one.limits and one.limits[0] == 0 for one in found)
    endpoints = [one.endpoints for one in opening if one.endpoints is not None]
    facts: dict[str, Any] = {
        "blackhole_active": any(one.all_counters.get(name) for one in opening for name in _BLACKHOLE),
        "expects_mptcp": any(endpoints) or any(socket.is_mptcp for one in found for socket in one.sockets),
    }
    if limits or refused:
        facts["subflow_limit"] = 0 if refused else min(limit for limit, _ in limits)
    if limits:
        facts["add_addr_accepted"] = min(limit for _, limit in limits)
    if endpoints:
        facts["endpoints"] = sum(map(len, endpoints))
    return json.dumps(facts)
