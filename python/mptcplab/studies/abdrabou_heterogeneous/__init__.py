"""Study B: re-examines Abdrabou and Prakash, *Experimental Performance Study of Multipath TCP over Heterogeneous
Wireless Networks*.

The package simulates the paper's four pairs of hosts, tests its claims and redraws its figures 3 to 6. `STUDY` lists
the experiments and the assumptions.
"""

from mptcplab.studies.abdrabou_heterogeneous.assumptions import ASSUMPTIONS
from mptcplab.studies.abdrabou_heterogeneous.buffer import Buffer
from mptcplab.studies.abdrabou_heterogeneous.controls import PairControls
from mptcplab.studies.abdrabou_heterogeneous.mss import SegmentSize
from mptcplab.studies.abdrabou_heterogeneous.network import NAME
from mptcplab.studies.abdrabou_heterogeneous.rate import Preference, Rate
from mptcplab.studies.abdrabou_heterogeneous.single import Interfaces
from mptcplab.studies.base import Study

STUDY = Study(
    name=NAME,
    letter="B",
    title="Multipath TCP over heterogeneous wireless networks",
    source="Atef Abdrabou and Monika Prakash, Experimental Performance Study of Multipath TCP over Heterogeneous "
    "Wireless Networks (UAE University)",
    summary=(
        "Four pairs send files at once, each over a crowded WiFi network and its own dedicated link. The share of "
        "WiFi grows with segments and buffers, and falls with the rate of the dedicated link. The study does not "
        "specify the meaning of 6 Mb/s, so both interpretations are run."
    ),
    experiments=[Interfaces(), Rate(), Buffer(), SegmentSize(), Preference(), PairControls()],
    assumptions=ASSUMPTIONS,
    kind="conference paper",
)
