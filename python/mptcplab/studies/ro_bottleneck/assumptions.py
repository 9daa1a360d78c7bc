"""Settings that study D (Ro and Nguyen Van, IJCCE 2016) does not specify, and the values used.

The report lists these choices of mptcplab. Owns only text; the values are in `network`. M2 (penalisation) halves the
window of a subflow that blocks the receive window.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "how the bottleneck serves its ports",
        "either one queue of 100 packets, or one packet of each port in turn; a claim holds only if it holds with both",
        "the study specifies neither the queue nor the arbiter. The second setting was added after claims had failed "
        "with the first, so claims that hold only with the second depend on this choice",
        after=(
            "D-1.1", "D-1.2", "D-1.4", "D-1.5", "D-2.1", "D-3.1", "D-3.2", "D-3.4", "D-4.1a", "D-4.1b", "D-5.1",
        ),
    ),
    Assumption(
        "the slow-start threshold that tcp_metrics keeps",
        "slow start ends at 64 KB in every connection",
        "Linux keeps the threshold of a destination between connections, and the study repeats its tests. Of the "
        "values 40 and 64 KB, 64 KB was chosen after the results of experiment D1 were known",
        after=("D-1.1", "D-1.2", "D-1.3"),
    ),
    Assumption(
        "buffers",
        "Linux's automatic tuning, up to 6 MB for receive buffers and 4 MB for send buffers; TCP small queues of 128 "
        "KB",
        "the kernel's defaults",
    ),
    Assumption(
        "the rule of penalisation (M2)", "`kernel_0.89`, the rule of the MPTCP kernel 0.89",
        "with the rule `original`, one subflow starved at an RTT of 25 ms if the bottleneck served its ports in turn",
        after=("D-1.1",),
    ),
    Assumption(
        "the direction of the losses", "only data packets are lost", (
            "in an earlier test, with 30% loss in both directions, neither connection delivered data"
        ),
        after=("D-2.2",),
    ),
    Assumption(
        "jitter", "50 µs on the clients' links",
        "the study has no jitter; without it, the packets of three ACK-clocked senders arrive in a fixed pattern",
    ),
)  # fmt: skip
