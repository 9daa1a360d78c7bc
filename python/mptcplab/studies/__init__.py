"""The published studies, one package each. Plugins add studies by entry points.

A study re-examines one publication: it simulates the published experiments and tests each claim of the publication. The
result of a test is a verdict, for example *holds* or *fails*.
"""

from collections.abc import Mapping

from mptcplab import plugins
from mptcplab.studies.abdrabou_heterogeneous import STUDY as ABDRABOU_HETEROGENEOUS
from mptcplab.studies.base import Study
from mptcplab.studies.cs244_rcvbuf import STUDY as CS244_RCVBUF
from mptcplab.studies.cs244_wireless import STUDY as CS244_WIRELESS
from mptcplab.studies.literature import LITERATURE
from mptcplab.studies.ro_bottleneck import STUDY as RO_BOTTLENECK
from mptcplab.studies.ucl_wifi import STUDY as UCL_WIFI

STUDIES: dict[str, Study] = {
    study.name: study for study in (CS244_WIRELESS, ABDRABOU_HETEROGENEOUS, CS244_RCVBUF, RO_BOTTLENECK, UCL_WIFI)
}
"""The five studies of the main report. `LITERATURE` has further papers, which run only by name."""


def all_studies() -> tuple[dict[str, Study], dict[str, str]]:
    """The studies of mptcplab and of plugins, and the problems of invalid entry points by name."""
    own = STUDIES | LITERATURE
    added, problems = plugins.studies(own)
    return own | added, problems


def studies_by_default(known: Mapping[str, Study]) -> dict[str, Study]:
    """The studies that `reproduce` runs without a selection: all of `known` except those of `LITERATURE`."""
    return {name: study for name, study in known.items() if name not in LITERATURE}


__all__ = ["LITERATURE", "STUDIES", "Study", "all_studies", "studies_by_default"]
