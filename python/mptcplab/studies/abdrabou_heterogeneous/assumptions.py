"""Settings that study B (Abdrabou and Prakash, UAE University) does not specify, and the values used.

Text for the report of the study; the values are in `network`. M2 (penalisation) halves the window of a subflow that
blocks the receive window.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the meaning of 6 Mb/s for the dedicated link",
        "the PHY rate of an 802.11a link of two stations; a token bucket is also run",
        "6 and 54 Mb/s are the ends of the rates of 802.11a and g, and the link was an 802.11 adapter. The token "
        "bucket uses the same neighbours: it was not calibrated again",
    ),
    Assumption(
        "activity of the neighbours",
        "three on each 2.4 GHz channel, with frames for 100 ms and none for 25 ms on average; two at 5 GHz",
        "calibrated on the 23 s over 802.11n alone. Pauses of 10 to 50 ms match, and 25 ms was chosen. With 10 ms, "
        "802.11g carries 28% next to 6 Mb/s; with 50 ms, 802.11a carries 3.06 Mb/s. The study states that 5 GHz is "
        "quieter",
        after=("B-1.1", "B-2.1", "B-3ab.3"),
    ),
    Assumption(
        "802.11n",
        "one stream; stations keep two frames in the device and so aggregate two, routers up to 32",
        "with two streams or full aggregates, five or six neighbours would be needed to match 23 s. 802.11g would "
        "then carry at most 23%, but 39% in the study",
        after=("B-1.1", "B-2.1"),
    ),
    Assumption(
        "the kernel",
        "two packets of a subflow in the host's own queue, as since Linux 3.19; M2's later rule, as since MPTCP 0.89",
        "the study cites a draft of January 2016. Of the stacks in B3, only this one uses WiFi with small receive "
        "buffers",
        after=("B-3ab.2", "B-3c.1"),
    ),
    Assumption("between the routers", "a wire of 100 Mb/s, 2.5 ms", "not specified; the access points are wired ones"),
    Assumption("the file", "15 MB are 15 000 000 bytes", "not specified; 15 MiB would be 4.9% more"),
)
