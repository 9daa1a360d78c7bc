"""Study E: re-examines Barlow-Bignell et al., *Wireless Interference and Multipath TCP* (MSc report, UCL, 2013).

The package simulates its client with two WiFi interfaces, tests its claims and redraws its figures 1 to 13. It also
tests the rule that the authors proposed. `STUDY` lists the experiments and the assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.ucl_wifi import coupled, sharing
from mptcplab.studies.ucl_wifi.assumptions import ASSUMPTIONS
from mptcplab.studies.ucl_wifi.controls import RadioControls
from mptcplab.studies.ucl_wifi.far import Far
from mptcplab.studies.ucl_wifi.idle import CrossBand, Idle
from mptcplab.studies.ucl_wifi.interference import Apart, Same
from mptcplab.studies.ucl_wifi.mobility import Mobility
from mptcplab.studies.ucl_wifi.network import NAME
from mptcplab.studies.ucl_wifi.send_queue import SendQueueRule
from mptcplab.studies.ucl_wifi.windows import Growth

STUDY = Study(
    name=NAME,
    letter="E",
    title="Wireless interference and Multipath TCP",
    source="J. Barlow-Bignell, C. da Silva, J. Gjengset and P. Oliha, Wireless Interference and Multipath TCP "
    "(MSc report, University College London, 2013)",
    summary=(
        "A client with two WiFi interfaces competes with clients with one. Downlink, coupled congestion control is "
        "fair. Uplink it is not: the queue of the station hides congestion, and the medium gives every station an "
        "equal turn. The authors proposed a rule for the send queue, but had no time to test it. Here it is tested."
    ),
    experiments=[
        Apart(),
        Same(),
        CrossBand(),
        sharing.Downlink(),
        sharing.Uplink(),
        coupled.Downlink(),
        coupled.Uplink(),
        Growth(),
        Far(),
        Idle(),
        Mobility(),
        SendQueueRule(),
        RadioControls(),
    ],
    assumptions=ASSUMPTIONS,
    kind="student report",
)
