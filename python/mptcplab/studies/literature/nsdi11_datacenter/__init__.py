"""Study L: re-examines the data centres of Wischik et al., *Design, Implementation and Evaluation of Congestion Control
for Multipath TCP* (NSDI 2011).

The paper compares single-path TCP, EWTCP and MPTCP in a simulated fat tree. `STUDY` lists the experiments and the
assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.literature.nsdi11_datacenter.assumptions import ASSUMPTIONS
from mptcplab.studies.literature.nsdi11_datacenter.loads import Loads
from mptcplab.studies.literature.nsdi11_datacenter.network import NAME
from mptcplab.studies.literature.nsdi11_datacenter.subflows import Subflows

STUDY = Study(
    name=NAME,
    letter="L",
    title="MPTCP in data centres",
    source="Wischik, Raiciu, Greenhalgh and Handley, Design, Implementation and Evaluation of Congestion Control for "
    "Multipath TCP, NSDI 2011, section 4. The paper could not be read, and all values are secondary",
    summary=(
        "A fat tree connects 128 hosts by links of 100 Mb/s. TCP uses one random path, and EWTCP and MPTCP use eight. "
        "The rate per host is compared for dense and sparse loads."
    ),
    experiments=[Loads(), Subflows()],
    assumptions=ASSUMPTIONS,
    kind="conference paper",
)
