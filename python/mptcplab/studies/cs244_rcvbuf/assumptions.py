"""Settings that study C (the CS244 report of 2014 on receive buffers) does not specify, and the values used. Text for
the report of the study; the values are in `network`. The original is the MPTCP paper of NSDI 2012.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the queues, which the text specifies in two ways",
        "53 and 333 packets, the original's 80 ms and 2 s; for comparison 13 and 25, the bandwidth-delay products",
        "the study reproduces the original",
    ),
    Assumption("the congestion control", "LIA, TCP alone with Reno", "as in the original"),
    Assumption("buffers", "send and receive buffer alike; 500 KB in C2 and C3", "not specified for C2 and C3"),
    Assumption("jitter", "0.1 ms on both paths", "without loss, runs would otherwise be identical"),
    Assumption(
        "loss detection of the kernel",
        "RACK-TLP, F-RTO and undo, the same in A, B, C, D and E",
        "kernels of that time detected lost retransmissions by forward acknowledgements (tcp_mark_lost_retrans in "
        "net/ipv4/tcp_input.c up to 4.3) and tail losses by early retransmit and loss probes. Both choices "
        "were tested: without RACK A-2.1, A-3.1 and A-3.3 are not met, with it C-2.2 and C-2.3 are not met",
        after=("A-2.1", "A-3.1", "A-3.3"),
    ),
)
