"""Study F: re-examines the hands-on lab of the SIGCOMM 2020 tutorial on multipath transport protocols.

The package simulates the topology files of the lab, tests the results that its text states, and draws a figure per
section. `STUDY` lists the experiments and the assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.literature.sigcomm20_tutorial.aggregation import Aggregation
from mptcplab.studies.literature.sigcomm20_tutorial.assumptions import ASSUMPTIONS
from mptcplab.studies.literature.sigcomm20_tutorial.backup import Backup
from mptcplab.studies.literature.sigcomm20_tutorial.fairness import Fairness
from mptcplab.studies.literature.sigcomm20_tutorial.network import NAME
from mptcplab.studies.literature.sigcomm20_tutorial.path_managers import PathManagers
from mptcplab.studies.literature.sigcomm20_tutorial.requests import Requests
from mptcplab.studies.literature.sigcomm20_tutorial.windows import Windows

STUDY = Study(
    name=NAME,
    letter="F",
    title="Hands-on lab of the SIGCOMM 2020 tutorial",
    source="ACM SIGCOMM 2020 tutorial on multipath transport protocols, repository qdeconinck/sigcomm20_mptp_tutorial: "
    "text, topology files and experiment files, read in full; its section on Multipath QUIC is not simulated",
    summary=(
        "The lab shows aggregation, schedulers, path managers, backup paths and fairness on small networks. Each "
        "section is simulated with its topology file and compared with the results that the lab states."
    ),
    experiments=[Aggregation(), Requests(), Windows(), PathManagers(), Backup(), Fairness()],
    assumptions=ASSUMPTIONS,
    kind="tutorial",
)
