"""Settings that study C (the CS244 report of 2014 on receive buffers) does not specify, and the values used. Text for
the report of the study; the values are in `network`. Study C repeats measurements of the MPTCP paper of
NSDI 2012, called the original here.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the queues, which the text of the study specifies in two ways",
        "53 packets for WiFi and 333 for 3G, the 80 ms and 2 s of the original (NSDI 2012); for comparison, 13 and 25 "
        "packets, the bandwidth-delay products",
        "the study reproduces the original",
    ),
    Assumption("the congestion control", "MPTCP with LIA, plain TCP with Reno", "as in the original (NSDI 2012)"),
    Assumption(
        "buffers", "equal send and receive buffers; 500 KB in C2 and C3", "sizes are not specified for C2 and C3"
    ),
    Assumption("jitter", "0.1 ms on both paths", "runs without loss would otherwise be the same for all seeds"),
    Assumption(
        "loss detection of the kernel",
        "RACK-TLP, F-RTO and the undo of spurious reductions, the same in studies A to E",
        "kernels of that time detected lost retransmissions by forward acknowledgements (tcp_mark_lost_retrans in "
        "net/ipv4/tcp_input.c up to 4.3) and tail losses by early retransmit and loss probes. Both "
        "choices were tested: without RACK, claims A-2.1, A-3.1 and A-3.3 are not met; with RACK, claims C-2.2 and "
        "C-2.3 are not met",
        after=("A-2.1", "A-3.1", "A-3.3"),
    ),
)
