"""Study G: re-examines figure 7 of NSDI 2012 by a student reproduction, the delay of an application over WiFi and 3G.

Raiciu et al., *How Hard Can It Be?* (NSDI 2012), compare delays of blocks with and without their mechanisms M1 and M2.
`STUDY` lists the experiments and the assumptions.
"""

from mptcplab.studies.base import Study
from mptcplab.studies.literature.nsdi12_latency.assumptions import ASSUMPTIONS
from mptcplab.studies.literature.nsdi12_latency.jitter import Jitter
from mptcplab.studies.literature.nsdi12_latency.latency import Latency
from mptcplab.studies.literature.nsdi12_latency.network import NAME

STUDY = Study(
    name=NAME,
    letter="G",
    title="Application latency over WiFi and 3G",
    source="CJ Cullen and Stephen Barber, CS244 at Stanford, 2014, repository cheney2cq/cs244-pa3: a Mininet "
    "reproduction of figure 7 of Raiciu et al., How Hard Can It Be? (NSDI 2012). Its scripts, programs and figures "
    "were read. The original figure was not read, so all values are secondary",
    summary=(
        "Blocks of 8 KB are written as fast as a small receive buffer allows, over WiFi, over 3G, and over both with "
        "and without opportunistic retransmission and penalisation. The delays of the blocks are compared."
    ),
    experiments=[Latency(), Jitter()],
    assumptions=ASSUMPTIONS,
    kind="student report",
    reproduces="NSDI 2012",
)
