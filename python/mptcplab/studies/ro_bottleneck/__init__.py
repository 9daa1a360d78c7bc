"""Study D: re-examines Ro and Nguyen Van, *Performance Evaluation of MPTCP over a Shared Bottleneck Link* (IJCCE 2016).

The package simulates two MPTCP subflows and a TCP flow on one link, tests the paper's claims and redraws its figures 5
to 12. `STUDY` lists the experiments and the assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.ro_bottleneck.assumptions import ASSUMPTIONS
from mptcplab.studies.ro_bottleneck.cause import Cause
from mptcplab.studies.ro_bottleneck.controls import SharedControls
from mptcplab.studies.ro_bottleneck.delay import Delay, OneDelay
from mptcplab.studies.ro_bottleneck.loss import Loss, OneLoss
from mptcplab.studies.ro_bottleneck.network import NAME

STUDY = Study(
    name=NAME,
    letter="D",
    title="MPTCP and TCP on a shared bottleneck",
    source="Soonghwan Ro and Dien Nguyen Van, Performance Evaluation of MPTCP over a Shared Bottleneck Link "
    "(International Journal of Computer and Communication Engineering 5(3), 2016)",
    summary=(
        "Two subflows and one TCP flow share a link of 100 Mb/s. The study measured two shares for MPTCP and one for "
        "TCP on a short link, and less than TCP on a long or lossy one. It names the controller LIA, which is "
        "designed to take one share. The reason for two shares is unknown: see docs/research/two-shares.md."
    ),
    experiments=[Delay(), Loss(), OneDelay(), OneLoss(), Cause(), SharedControls()],
    assumptions=ASSUMPTIONS,
    kind="journal paper",
    short_blocks=True,
)
