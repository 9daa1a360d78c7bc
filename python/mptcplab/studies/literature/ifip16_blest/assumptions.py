"""Settings that the source of study H (numbers of BLEST, IFIP Networking 2016) leaves open, and the values used."""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the delays of WLAN and 3G, 25 and 65 ms",
        "as one-way delays and as RTTs, which must agree for a verdict",
        "the quoted numbers do not say which of both",
    ),
    Assumption(
        "the kernel",
        "Linux 3.x with the rule of penalisation (M2) of 2012 or of release 0.89, and Linux 4.x; all must agree",
        "not quoted. Windows grow per acknowledgement before Linux 4.0. The readings were added when H-1.1 and H-2.3 "
        "differed from the values of docs/algorithms.md",
        after=("H-1.1", "H-1.3", "H-1.4", "H-2.1", "H-2.3"),
    ),
    Assumption(
        "M1 and M2 with BLEST",
        "without; the other schedulers run with both",
        "an author of BLEST wrote that both were removed for schedulers such as BLEST (discussion of penalisation in "
        "mptcp_net-next)",
    ),
    Assumption(
        "buffers and the size of a transfer",
        "1 MiB of data in each buffer, and files of 16 MiB",
        "quoted are 1024 and 2048 KiB, and 16 MiB for bulk data; head-of-line blocking needs small buffers",
    ),
    Assumption("the packets of the stream", "blocks of 1400 bytes at 1 Mb/s, without Nagle's algorithm", "not quoted"),
    Assumption(
        "the values",
        "single numbers count within 20%",
        "all numbers are secondary; the paper's tables could not be read",
    ),
    Assumption(
        "the out-of-order queue",
        "its mean over the samples of a transfer, every 100 ms",
        "the quoted number has no definition",
    ),
)
