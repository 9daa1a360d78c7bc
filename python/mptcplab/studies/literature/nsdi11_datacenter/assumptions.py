"""Settings that study L (Wischik et al., NSDI 2011, section 4) does not specify, and the values used."""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "queues",
        "100 packets in switches, 1000 in hosts",
        "SWITCH_BUFFER and FEEDER_BUFFER in the fat tree of the authors' simulator, htsim. With 100 packets in hosts, "
        "their 96 subflows of TP2 have windows of a few packets, and MPTCP gets 85 Mb/s",
        after=("L-1.2",),
    ),
    Assumption("delay of a link", "20 us", "not specified; queues of 100 packets (12 ms) dominate the RTT"),
    Assumption(
        "paths",
        "drawn without repetition among the shortest paths of a pair; acknowledgements return over the same links",
        "the source says that 8 random paths were used",
    ),
    Assumption(
        "the receivers of TP2", "12 random permutations", "with 97 Mb/s per host, all hosts must receive equally much"
    ),
    Assumption(
        "the receivers of TP3",
        "drawn without repetition, and in a second set of runs with repetition; both must agree for a verdict",
        "the source says that receivers are random; with repetition, 38 senders have about 33 receivers, so that at "
        "most 87 Mb/s per host are possible",
    ),
    Assumption(
        "the rate of a host",
        "goodput plus the headers of its packets, averaged over the hosts that send",
        "packets in the authors' simulator have no headers",
    ),
    Assumption(
        "duration", "4 s, of which the last 2 s are measured", "not specified; with 12 s, MPTCP gets 1 Mb/s more (TP1)"
    ),
    Assumption(
        "tolerance of the published values", "10%", "two simulators with different TCP", after=("L-1.1", "L-1.2")
    ),
)
