"""Study I: re-examines Lim et al., *ECF* (CoNEXT 2017), a scheduler that estimates completion times.

The package compares ECF with the default scheduler, BLEST and DAPS over WiFi and LTE. `STUDY` lists the experiments and
the assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.literature.conext17_ecf.assumptions import ASSUMPTIONS
from mptcplab.studies.literature.conext17_ecf.chunks import Chunks
from mptcplab.studies.literature.conext17_ecf.files import Files
from mptcplab.studies.literature.conext17_ecf.network import NAME

STUDY = Study(
    name=NAME,
    letter="I",
    title="ECF, a scheduler that estimates completion times",
    source="Yeon-sup Lim, Erich Nahum, Don Towsley and Richard Gibbens, ECF: An MPTCP Path Scheduler to Manage "
    "Heterogeneous Paths (CoNEXT 2017). Only its abstract and introduction were read; all numbers are secondary. Video "
    "bit rates, resets of the initial window and measurements in real networks are omitted",
    summary=(
        "ECF waits for the fast path if it completes earlier than the slow path. Downloads of files, and chunks of a "
        "video stream, compare it with the lowest RTT first, BLEST and DAPS over WiFi and LTE with unequal rates."
    ),
    experiments=[Files(), Chunks()],
    assumptions=ASSUMPTIONS,
    kind="conference paper",
)
