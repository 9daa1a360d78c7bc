"""Study C: re-examines a CS244 student report (Stanford, 2014) on the impact of receive buffer size on MPTCP.

The report reproduces figure 4 of Raiciu et al., *How Hard Can It Be?* (NSDI 2012) in Mininet. The package simulates its
WiFi and 3G paths, tests its claims and redraws the figure. `STUDY` lists the experiments and the assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.cs244_rcvbuf.assumptions import ASSUMPTIONS
from mptcplab.studies.cs244_rcvbuf.controls import BufferControls
from mptcplab.studies.cs244_rcvbuf.loss import Loss
from mptcplab.studies.cs244_rcvbuf.network import NAME
from mptcplab.studies.cs244_rcvbuf.rtt import RoundTrip
from mptcplab.studies.cs244_rcvbuf.third_path import ThirdPath
from mptcplab.studies.cs244_rcvbuf.window import Window

STUDY = Study(
    name=NAME,
    letter="C",
    title="The impact of receive buffer size on MPTCP",
    source="CS244 at Stanford, 2014: a Mininet reproduction of figure 4 of Raiciu et al., How Hard Can It Be? "
    "(NSDI 2012)",
    summary=(
        "WiFi of 8 Mb/s and 3G of 2 Mb/s share one receive window. The study varies its size, opportunistic "
        "retransmission (M1), penalisation (M2), loss and RTTs."
    ),
    experiments=[Window(), Loss(), RoundTrip(), ThirdPath(), BufferControls()],
    assumptions=ASSUMPTIONS,
    kind="student report",
    reproduces="NSDI 2012",
)
