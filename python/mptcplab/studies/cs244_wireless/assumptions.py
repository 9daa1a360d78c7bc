"""What study A leaves open, and what was taken for it. Owns words alone; the values are in `network`."""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the congestion control",
        "CUBIC, Reno and LIA, of which none is judged alone; in A1 and A3 CUBIC, the default of the study's Ubuntu",
        "the study names none",
    ),
    Assumption("how links go down", "the interface is taken down, and both ends know", "silence is run beside it"),
    Assumption(
        "how much of the buffer the original's kernel offered as window",
        "the whole and half of it, of which none is judged alone",
        "Linux charges its bookkeeping to the receive buffer; tcp_adv_win_scale was 2 before Linux 3.4 and 1 after",
    ),
    Assumption("queues", "1000 packets, Mininet's default; in A2-clean 80 ms and 2 s, as in study C", "not stated"),
    Assumption("jitter on A2-clean", "0.2 ms", "without loss nothing else tells one run from another"),
    Assumption(
        "loss detection of the kernel",
        "RACK-TLP, F-RTO and undo, the same in A, B, C, D and E",
        "kernels of the time found a lost retransmission by forward acknowledgements (tcp_mark_lost_retrans in "
        "net/ipv4/tcp_input.c up to 4.3) and the tail of a window by early retransmit and loss probes. Both choices "
        "were looked at: without RACK A-2.1, A-3.1 and A-3.3 are not met, with it they are",
        after=("A-2.1", "A-3.1", "A-3.3"),
    ),
)
