"""What study B leaves open, and what was taken for it. Owns words alone; the values are in `network`."""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "what 6 Mb/s of the dedicated link means",
        "the PHY rate of an 802.11a link of two stations; a token bucket is run beside it",
        "6 and 54 Mb/s are the ends of the rates of 802.11a and g, and the link was an 802.11 adapter. The token "
        "bucket uses the same neighbours: it was not calibrated again",
    ),
    Assumption(
        "how busy the neighbours are",
        "three with frames for 100 ms and none for 25 ms, on the mean, on each 2.4 GHz channel; two at 5 GHz",
        "calibrated on 23 s over 802.11n alone. Pauses of 10 to 50 ms meet that; 25 ms were chosen among them, for "
        "with 10 ms 802.11g carries 28 % beside 6 Mb/s, and with 50 ms 802.11a carries 3.06 Mb/s. That 5 GHz is "
        "quieter are the study's words",
        after=("B-1.1", "B-2.1", "B-3ab.3"),
    ),
    Assumption(
        "802.11n",
        "one stream; stations keep two frames in the device and so aggregate two, routers up to 32",
        "with two streams, or with full aggregates, it takes five or six neighbours to meet 23 s, and 802.11g beside "
        "as many carries 23 % or less, where the study has 39",
        after=("B-1.1", "B-2.1"),
    ),
    Assumption(
        "the kernel",
        "two packets of a subflow in the host's own queue, as since Linux 3.19; M2's later rule, as since MPTCP 0.89",
        "the study cites a draft of January 2016; this stack alone uses WiFi with small receive buffers, others are "
        "run beside it in B3",
        after=("B-3ab.2", "B-3c.1"),
    ),
    Assumption("between the routers", "a wire of 100 Mb/s, 2.5 ms", "not stated; the access points are wired ones"),
    Assumption("the file", "15 MB are 15 000 000 bytes", "not stated; 15 MiB would be 4.9 % more"),
)
