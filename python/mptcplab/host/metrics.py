"""Prints counters and subflows in the text format of Prometheus 0.0.4, for monitoring (`mptcplab host export`).

The node exporter's textfile collector reads the text. Owns the metric names. The counters are those of the kernel:
linux/net/mptcp/mib.h.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping

from mptcplab.host.connections import Subflow

MOST = 1_000
"""Maximum number of listed subflows, because each one is a time series per metric."""

_ESTABLISHED = "MPCurrEstab"
_Value = Callable[[Subflow], float | None]
_OF_SUBFLOWS: dict[str, tuple[str, str, _Value]] = {
    "mptcp_subflow_bytes_acked_total": ("counter", "Bytes that the peer acknowledged.", lambda one: one.bytes_acked),
    "mptcp_subflow_bytes_received_total": ("counter", "Bytes received in order.", lambda one: one.bytes_received),
    "mptcp_subflow_retransmits_total": ("counter", "Retransmitted segments.", lambda one: one.retransmits),
    "mptcp_subflow_srtt_seconds": ("gauge", "Smoothed round-trip time.", lambda one: one.srtt),
    "mptcp_subflow_cwnd_segments": ("gauge", "Congestion window.", lambda one: one.cwnd),
    "mptcp_subflow_backup": ("gauge", "1 if the subflow is a backup, otherwise 0.", lambda one: float(one.backup)),
}


def text(counters: Mapping[str, int], subflows: Iterable[Subflow]) -> str:
    """The text of the file."""
    coming = iter(subflows)
    listed = list(itertools.islice(coming, MOST))
    count = len(listed) + sum(1 for _ in coming)
    lines = _head("mptcp_mib_total", "counter", "Counters of MPTcpExt in /proc/net/netstat.")
    counted = {name: value for name, value in counters.items() if name != _ESTABLISHED}
    lines += [f"mptcp_mib_total{_labels(counter=name)} {value}" for name, value in counted.items()]
    lines += _head("mptcp_connections", "gauge", "Connections that are established (MPCurrEstab).")
    lines.append(f"mptcp_connections {counters.get(_ESTABLISHED, 0)}")
    lines += _head("mptcp_subflows", "gauge", "Subflows of all connections.")
    lines.append(f"mptcp_subflows {count}")
    for name, (kind, what, value) in _OF_SUBFLOWS.items():
        lines += _head(name, kind, what)
        for one in listed:
            number = value(one)
            if number is not None:
                labels = _labels(token=one.token, id=str(one.number), local=one.local, remote=one.remote)
                lines.append(f"{name}{labels} {number:.12g}")
    return "\n".join(lines) + "\n"


def _head(name: str, kind: str, what: str) -> list[str]:
    return [f"# HELP {name} {what}", f"# TYPE {name} {kind}"]


def _labels(**values: str) -> str:
    # Addresses, counter names and digits need no escaping.
    return "{" + ",".join(f'{key}="{value}"' for key, value in values.items()) + "}"
