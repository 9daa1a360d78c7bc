"""Settings that study D (Ro and Nguyen Van, IJCCE 2016) does not specify, and the values used.

Owns only text; the values are in `network`. M2 (penalisation) halves the window of a subflow that blocks the receive
window.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "how the bottleneck serves its ports",
        "two ways, neither of which is judged alone: one queue of 100 packets, or one packet of each port in turn",
        "the study specifies neither queue nor arbiter. Ports in turn were tested after its claims had failed on one "
        "queue, so claims that hold only with it depend on it",
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
        "the rule of M2", "the later one", "with the original, one subflow starved at 25 ms on ports in turn",
        after=("D-1.1",),
    ),
    Assumption(
        "the losses", "of data packets only", (
            "an earlier experiment, no longer part of the study, with loss in both directions: 30% left nothing to "
            "either connection"
        ),
        after=("D-2.2",),
    ),
    Assumption(
        "jitter of 50 µs on the clients' links", "so that three ACK-clocked senders do not lock into one pattern",
        "not in the study",
    ),
)  # fmt: skip
