"""Settings that study K (Wischik et al., NSDI 2011) does not specify in the parts that could be read, and the values
used.
"""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the links of K1",
        "rates over which TCP alone gets the published 14.4 and 2.1 Mb/s",
        "the source measured on real WiFi and 3G",
    ),
    Assumption(
        "the links of K2",
        "rates over which TCP alone gets 3.7 Mb/s on WiFi and 2.1 Mb/s on 3G",
        "with 2.1 Mb/s on 3G, the three published rows add up to 3.3, 3.8 and 3.9 Mb/s on WiFi",
    ),
    Assumption(
        "RTTs and queues",
        "WiFi has an RTT of 10 ms and a queue of 100 ms. 3G has an RTT of 100 ms. Its queue holds 2 s in K1. In K2, it "
        "holds 300 ms, 1 s or 2 s, which must agree for a verdict",
        "not specified; studies A and C describe links with 2 s. The shorter queues of K2 were added after looking at "
        "results with 2 s",
        after=("K-2.1", "K-2.2", "K-2.3", "K-2.5"),
    ),
    Assumption("random loss", "none", "not specified; the queues overflow"),
    Assumption(
        "the networks of K3",
        "C1 is 400 packets/s with an RTT of 100 ms. C2 is 400 to 3200 packets/s with RTTs of 12 to 800 ms. Each queue "
        "holds one bandwidth-delay product",
        "the source that quotes the experiment gives C1 and its RTT only",
    ),
    Assumption(
        "acknowledgements of K3",
        "one per segment",
        "the authors' simulator, htsim, does not delay acknowledgements; windows then grow by one segment per RTT",
    ),
    Assumption("tolerance of published rates", "20%", "secondary values, and unknown RTTs and queues"),
)
