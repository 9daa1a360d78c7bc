"""Settings that study B (Abdrabou and Prakash, UAE University) does not specify, and the values used.

Text for the report of the study; the values are in `network`. M2 (penalisation) halves the window of a subflow that
blocks the receive window.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the meaning of 6 Mb/s for the dedicated link",
        "the PHY rate of an 802.11a link between two stations; runs with a token bucket of 6 Mb/s are added",
        "6 and 54 Mb/s are the lowest and the highest rate of 802.11a and g, and the link used an 802.11 adapter. "
        "Runs with the token bucket use the same neighbours, without a new calibration",
    ),
    Assumption(
        "activity of the neighbours",
        "three neighbours on each channel at 2.4 GHz, two at 5 GHz; on average, each sends for 100 ms, then pauses "
        "for 25 ms",
        "calibrated on the transfer time of 23 s over 802.11n alone. Pauses of 10 to 50 ms match this time, and 25 ms "
        "was chosen. With pauses of 10 ms, 802.11g carries 28% of the data next to a link of 6 Mb/s; with 50 ms, "
        "802.11a carries 3.06 Mb/s. The study states that 5 GHz is quieter",
        after=("B-1.1", "B-2.1", "B-3ab.3"),
    ),
    Assumption(
        "802.11n",
        "one spatial stream; stations aggregate two frames, as many as they keep in the device, and routers up to 32",
        "with two streams or full aggregates, five or six neighbours would be needed to match the 23 s. "
        "802.11g would then carry at most 23% of the data; in the study, it carries 39%",
        after=("B-1.1", "B-2.1"),
    ),
    Assumption(
        "the kernel",
        "at most two packets of a subflow in the host's own queue, as since Linux 3.19; the later rule of penalisation "
        "(M2), as since MPTCP 0.89",
        "the study cites a draft of January 2016. Of the stacks in B3, only this one uses WiFi with small receive "
        "buffers",
        after=("B-3ab.2", "B-3c.1"),
    ),
    Assumption(
        "between the routers",
        "a wire with 100 Mb/s and a delay of 2.5 ms",
        "not specified; both access points are wired",
    ),
    Assumption("the file", "15 MB are 15,000,000 bytes", "not specified; 15 MiB would be 4.9% more"),
)
