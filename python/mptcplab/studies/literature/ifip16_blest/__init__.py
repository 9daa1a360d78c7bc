"""Study H: re-examines Ferlin et al., *BLEST* (IFIP Networking 2016), a scheduler that estimates blocking.

The package compares BLEST with the default scheduler, OTIAS and DAPS over WLAN and 3G. `STUDY` lists the experiments
and the assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.literature.ifip16_blest.assumptions import ASSUMPTIONS
from mptcplab.studies.literature.ifip16_blest.bulk import Bulk
from mptcplab.studies.literature.ifip16_blest.network import NAME
from mptcplab.studies.literature.ifip16_blest.stream import Stream

STUDY = Study(
    name=NAME,
    letter="H",
    title="BLEST, a scheduler that estimates blocking",
    source="Simone Ferlin, Özgü Alay, Olivier Mehani and Roksana Boreli, BLEST: Blocking Estimation-based MPTCP "
    "Scheduler for Heterogeneous Networks (IFIP Networking 2016). Only its abstract was read; all numbers are "
    "secondary. Its web pages are omitted, because their objects are unknown",
    summary=(
        "BLEST skips the slow path if its data would block the send window. Transfers of 16 MiB and a stream of 1 Mb/s "
        "over WLAN and 3G compare it with the lowest RTT first, OTIAS and DAPS."
    ),
    experiments=[Bulk(), Stream()],
    assumptions=ASSUMPTIONS,
    kind="conference paper",
)
