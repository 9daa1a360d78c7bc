"""Study D: MPTCP and TCP on a shared bottleneck (Ro and Nguyen Van, IJCCE 2016)."""

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
    summary="Two subflows and one TCP flow meet on a line of 100 Mb/s. The study measured two shares for MPTCP and one "
    "for TCP on a short line, and less than TCP on a long or lossy one. The controller that it names, LIA, was "
    "made to take one share. What made two of it is not found: see docs/research/two-shares.md.",
    experiments=[Delay(), Loss(), OneDelay(), OneLoss(), Cause(), SharedControls()],
    assumptions=ASSUMPTIONS,
    kind="journal paper",
    short_blocks=True,
)
