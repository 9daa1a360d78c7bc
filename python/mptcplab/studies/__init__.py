"""The published studies, one package each. Plugins add studies by entry points.

A study re-examines one publication: it simulates the published experiments and tests each claim of the publication. The
result of a test is a verdict, for example *holds* or *fails*.
"""

from mptcplab import plugins
from mptcplab.studies.abdrabou_heterogeneous import STUDY as ABDRABOU_HETEROGENEOUS
from mptcplab.studies.base import Study
from mptcplab.studies.cs244_rcvbuf import STUDY as CS244_RCVBUF
from mptcplab.studies.cs244_wireless import STUDY as CS244_WIRELESS
from mptcplab.studies.ro_bottleneck import STUDY as RO_BOTTLENECK
from mptcplab.studies.ucl_wifi import STUDY as UCL_WIFI

STUDIES: dict[str, Study] = {
    study.name: study for study in (CS244_WIRELESS, ABDRABOU_HETEROGENEOUS, CS244_RCVBUF, RO_BOTTLENECK, UCL_WIFI)
}


def all_studies() -> tuple[dict[str, Study], dict[str, str]]:
    """The studies of mptcplab and of plugins, and the problems of invalid entry points by name."""
    added, problems = plugins.studies(STUDIES)
    return STUDIES | added, problems


__all__ = ["STUDIES", "Study", "all_studies"]
