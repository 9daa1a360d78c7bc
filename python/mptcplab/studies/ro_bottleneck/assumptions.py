"""Settings that study D (Ro and Nguyen Van, IJCCE 2016) does not specify, and the values used.

The report lists these choices of mptcplab. Owns only text; the values are in `network`. M2 (penalisation) halves the
window of a subflow that blocks the receive window.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "how the bottleneck serves its ports",
        "one queue of 100 packets, and one packet of each port in turn; both are judged together",
        "the study specifies neither queue nor arbiter. Ports in turn were tested after claims of the study had failed "
        "on one queue, so claims that hold only with ports in turn depend on this choice",
        after=(
            "D-1.1", "D-1.2", "D-1.4", "D-1.5", "D-2.1", "D-3.1", "D-3.2", "D-3.4", "D-4.1a", "D-4.1b", "D-5.1",
        ),
    ),
    Assumption(
        "the state of tcp_metrics",
        "slow start ends at 64 KB in every connection",
        "Linux remembers the threshold of a destination between connections, and the study repeats its tests; the "
        "value was chosen between 40 and 64 KB after seeing D1",
        after=("D-1.1", "D-1.2", "D-1.3"),
    ),
    Assumption("buffers", "Linux's tuning, up to 6 and 4 MB; small queues of 128 KB", "the kernel's defaults"),
    Assumption(
        "the rule of M2", "`kernel_0.89`", "with the rule `original`, one subflow starved at 25 ms on ports in turn",
        after=("D-1.1",),
    ),
    Assumption(
        "the losses", "of data packets only", (
            "in an earlier test, with 30% loss in both directions, neither connection delivered data"
        ),
        after=("D-2.2",),
    ),
    Assumption(
        "jitter of 50 µs on the clients' links", "without jitter, three ACK-clocked senders lock into one pattern",
        "not in the study",
    ),
)  # fmt: skip
