"""Study K: re-examines the wireless experiments of Wischik et al., *Design, Implementation and Evaluation of Congestion
Control for Multipath TCP* (NSDI 2011).

The paper compares EWTCP, COUPLED and MPTCP over WiFi and 3G. `STUDY` lists the experiments and the assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.literature.nsdi11_wireless.alone import Alone
from mptcplab.studies.literature.nsdi11_wireless.assumptions import ASSUMPTIONS
from mptcplab.studies.literature.nsdi11_wireless.compensation import Compensation
from mptcplab.studies.literature.nsdi11_wireless.competing import Competing
from mptcplab.studies.literature.nsdi11_wireless.network import NAME

STUDY = Study(
    name=NAME,
    letter="K",
    title="Coupled congestion control over WiFi and 3G",
    source="Wischik, Raiciu, Greenhalgh and Handley, Design, Implementation and Evaluation of Congestion Control for "
    "Multipath TCP, NSDI 2011, sections 2 and 5. The paper could not be read, and all values are secondary",
    summary=(
        "A laptop with WiFi and 3G downloads alone, and next to TCP flows on both links. A third experiment varies the "
        "rate and the RTT of one of two links."
    ),
    experiments=[Alone(), Competing(), Compensation()],
    assumptions=ASSUMPTIONS,
    kind="conference paper",
)
