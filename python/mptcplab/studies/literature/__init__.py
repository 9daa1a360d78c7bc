"""Results of further papers, in addition to the five published studies: one package per paper.

`mptcplab reproduce literature` runs all of them. The published values come from secondary sources where the paper
itself could not be read. Each study names its source.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.literature.conext12_olia import STUDY as CONEXT12_OLIA
from mptcplab.studies.literature.conext17_ecf import STUDY as CONEXT17_ECF
from mptcplab.studies.literature.ifip16_blest import STUDY as IFIP16_BLEST
from mptcplab.studies.literature.nsdi11_datacenter import STUDY as NSDI11_DATACENTER
from mptcplab.studies.literature.nsdi11_wireless import STUDY as NSDI11_WIRELESS
from mptcplab.studies.literature.nsdi12_latency import STUDY as NSDI12_LATENCY
from mptcplab.studies.literature.sigcomm20_tutorial import STUDY as SIGCOMM20_TUTORIAL

LITERATURE: dict[str, Study] = {
    SIGCOMM20_TUTORIAL.name: SIGCOMM20_TUTORIAL,
    NSDI12_LATENCY.name: NSDI12_LATENCY,
    IFIP16_BLEST.name: IFIP16_BLEST,
    CONEXT17_ECF.name: CONEXT17_ECF,
    CONEXT12_OLIA.name: CONEXT12_OLIA,
    NSDI11_WIRELESS.name: NSDI11_WIRELESS,
    NSDI11_DATACENTER.name: NSDI11_DATACENTER,
}
"""The studies by name, in the order of their letters."""

__all__ = ["LITERATURE"]
