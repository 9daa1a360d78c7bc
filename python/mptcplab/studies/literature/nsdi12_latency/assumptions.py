"""Settings that the source of study G (a student reproduction of figure 7 of NSDI 2012) leaves open."""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the buffers",
        "200 KB of unacknowledged and unsent data, and a window of 30 KB",
        "Linux doubles both values and charges its overhead to them. A segment of 1448 bytes is charged about 2300 "
        "bytes, and tcp_adv_win_scale = 1 offers half of the memory as window",
    ),
    Assumption(
        "the start of a delay",
        "the time at which the first byte of a block enters the send buffer",
        "the students' program takes the time of the last byte, which is 8 ms later at 8 Mb/s",
    ),
    Assumption(
        "jitter of 100 ms around a delay of 31 ms",
        "uniform, negative delays are 0, and packets are reordered",
        "netem with these parameters does the same; netem delays packets before the link, the simulator behind it",
    ),
    Assumption("random loss and jitter", "in both directions", "Mininet configures both ends of a link"),
    Assumption(
        "the rule of penalisation (M2)",
        "both rules, which must agree for a verdict",
        "the kernel is a snapshot between two releases",
    ),
    Assumption(
        "the queue of 10 packets between switch and server", "omitted", "its link of 1 Gb/s is rarely busy at 30 Mb/s"
    ),
    Assumption(
        "published peaks",
        "105, 125 and 350 ms within 20%",
        "read from the students' figure, whose bins are 20 ms wide; the original figure of NSDI 2012 was not read",
    ),
)
