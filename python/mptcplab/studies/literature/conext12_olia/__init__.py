"""Study J: re-examines scenarios A, B and C of Khalili et al., *MPTCP is not Pareto-Optimal: Performance Issues and a
Possible Solution* (CoNEXT 2012).

The paper shows two problems of LIA, and proposes OLIA. `STUDY` lists the experiments and the assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.literature.conext12_olia.assumptions import ASSUMPTIONS
from mptcplab.studies.literature.conext12_olia.network import NAME
from mptcplab.studies.literature.conext12_olia.scenario_a import ScenarioA
from mptcplab.studies.literature.conext12_olia.scenario_b import ScenarioB
from mptcplab.studies.literature.conext12_olia.scenario_c import ScenarioC

STUDY = Study(
    name=NAME,
    letter="J",
    title="LIA and OLIA next to TCP",
    source="Khalili, Gast, Popovic, Upadhyay and Le Boudec, MPTCP is not Pareto-Optimal: Performance Issues and a "
    "Possible Solution, CoNEXT 2012. Only the abstract could be read",
    summary=(
        "Users with two paths share links with TCP users. Three networks show the gain of the users who upgrade to "
        "MPTCP, and the loss of the others, with LIA and with OLIA."
    ),
    experiments=[ScenarioA(), ScenarioB(), ScenarioC()],
    assumptions=ASSUMPTIONS,
    kind="conference paper",
)
