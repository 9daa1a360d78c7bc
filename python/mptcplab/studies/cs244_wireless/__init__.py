"""Study A: Multipath TCP over wireless networks in Mininet (Lim and Valdez, CS244 2013)."""

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
