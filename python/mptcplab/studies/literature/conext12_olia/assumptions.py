"""Settings that study J (Khalili et al., CoNEXT 2012) does not specify in the parts that could be read, and the values
used.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption("propagation delay", "100 ms for all paths, both directions", "not specified in the abstract"),
    Assumption(
        "queues",
        "RED with 10% at the upper threshold, which is half a bandwidth-delay product",
        "the equilibrium of LIA assumes that all flows of a link see one loss rate",
    ),
    Assumption(
        "capacities", "2 Mb/s per user in A and C", "windows of about 17 packets; not specified in the abstract"
    ),
    Assumption(
        "scenario B",
        "the second path of the users that upgrade crosses both shared links",
        "this wastes capacity, as the abstract reports",
    ),
    Assumption("the tolerance of LIA's equilibrium", "15%", "the equilibrium ignores timeouts and small windows"),
)
