"""Settings that study A (Lim and Valdez, CS244 at Stanford, 2013) does not specify, and the values used. Text for the
report of the study; the values are in `network`.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the congestion control",
        "CUBIC, Reno and LIA, which must agree for a verdict; in A1 and A3 only CUBIC, the default of the study's "
        "Ubuntu",
        "the study does not specify it",
    ),
    Assumption(
        "how links go down",
        ("the interface is taken down, and both ends notice it"),
        ("not specified; runs in which the path drops all packets silently are added for comparison"),
    ),
    Assumption(
        "the share of the buffer that the kernel of the original (NSDI 2012) offered as window",
        "the whole buffer and half the buffer, which must agree for a verdict",
        "Linux charges its bookkeeping to the receive buffer; tcp_adv_win_scale was 2 before Linux 3.4 and 1 after",
    ),
    Assumption(
        "queues",
        "1000 packets, Mininet's default; in A2-clean, the data of 80 ms on WiFi and of 2 s on 3G, as in study C",
        "not specified",
    ),
    Assumption("jitter on A2-clean", "0.2 ms", "runs without loss would otherwise be the same for all seeds"),
    Assumption(
        "loss detection of the kernel",
        "RACK-TLP, F-RTO and the undo of spurious reductions, the same in studies A to E",
        "kernels of that time detected lost retransmissions by forward acknowledgements (tcp_mark_lost_retrans in "
        "net/ipv4/tcp_input.c up to 4.3) and tail losses by early retransmit and loss probes. The "
        "claims were tested with and without RACK: A-2.1, A-3.1 and A-3.3 are met only with RACK",
        after=("A-2.1", "A-3.1", "A-3.3"),
    ),
)
