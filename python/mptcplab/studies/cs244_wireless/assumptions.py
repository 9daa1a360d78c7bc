"""Settings that study A (Lim and Valdez, CS244 at Stanford, 2013) does not specify, and the values used. Text for the
report of the study; the values are in `network`.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the congestion control",
        "CUBIC, Reno and LIA, none of which is judged alone; in A1 and A3 CUBIC, the default of the study's Ubuntu",
        "the study does not specify it",
    ),
    Assumption(
        "how links go down",
        ("the interface is taken down, and both ends notice it"),
        ("silent loss is run for comparison"),
    ),
    Assumption(
        "the share of the buffer that the original's kernel offered as window",
        "the whole buffer and half of it, neither of which is judged alone",
        "Linux charges its bookkeeping to the receive buffer; tcp_adv_win_scale was 2 before Linux 3.4 and 1 after",
    ),
    Assumption("queues", "1000 packets, Mininet's default; in A2-clean 80 ms and 2 s, as in study C", "not specified"),
    Assumption("jitter on A2-clean", "0.2 ms", "without loss, runs would otherwise be identical"),
    Assumption(
        "loss detection of the kernel",
        "RACK-TLP, F-RTO and undo, the same in A, B, C, D and E",
        "kernels of that time detected lost retransmissions by forward acknowledgements (tcp_mark_lost_retrans in "
        "net/ipv4/tcp_input.c up to 4.3) and tail losses by early retransmit and loss probes. Both choices "
        "were tested: without RACK A-2.1, A-3.1 and A-3.3 are not met, with RACK they are",
        after=("A-2.1", "A-3.1", "A-3.3"),
    ),
)
