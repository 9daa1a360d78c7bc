"""Study A: re-examines Lim and Valdez, *MPTCP Wireless Performance* (CS244 student report, Stanford, 2013).

The report reproduces figure 9 of Raiciu et al., *How Hard Can It Be?* (NSDI 2012) in Mininet. The package simulates its
Ethernet, WiFi and 3G paths, tests its claims and redraws its figures 2 to 4. `STUDY` lists the experiments and the
assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.cs244_wireless.assumptions import ASSUMPTIONS
from mptcplab.studies.cs244_wireless.buffers import Buffers
from mptcplab.studies.cs244_wireless.clean import CleanBuffers
from mptcplab.studies.cs244_wireless.controls import WirelessControls
from mptcplab.studies.cs244_wireless.handoff import Handoff
from mptcplab.studies.cs244_wireless.model import Model
from mptcplab.studies.cs244_wireless.network import NAME

STUDY = Study(
    name=NAME,
    letter="A",
    title="MPTCP wireless performance",
    source="Maxine Lim and Josh Valdez, CS244 at Stanford, 2013: a Mininet reproduction of figure 9 of "
    "Raiciu et al., How Hard Can It Be? (NSDI 2012)",
    summary=(
        "Ethernet, WiFi and 3G go down and recover while one connection continues. WiFi and 3G together are compared "
        "with each alone, by buffer size. TCP over a lossy link is compared with the formula of Padhye et al."
    ),
    experiments=[Handoff(), Buffers(), CleanBuffers(), Model(), WirelessControls()],
    assumptions=ASSUMPTIONS,
    kind="student report",
    reproduces="NSDI 2012",
)
