"""Settings that the source of study I (numbers of ECF, CoNEXT 2017) leaves open, and the values used."""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "the delays of WiFi and LTE",
        "20 and 45 ms one-way",
        "the paper used real networks with regulated rates; these delays are those of tests/it/schedulers.rs",
    ),
    Assumption(
        "queues",
        "1000 and 50 packets, which must agree for a verdict",
        "not quoted. The queues of 50 packets were added after the results with 1000 packets, in which WiFi of 1 Mb/s "
        "takes 100 segments before its RTT is known",
        after=("I-1.2", "I-1.3", "I-1.4", "I-2.2", "I-2.3"),
    ),
    Assumption(
        "jitter",
        "1 ms on both paths, in order",
        "added after the first results, in which all seeds gave the same run and single packets decided",
        after=("I-1.2", "I-1.3", "I-2.1", "I-2.2", "I-2.3"),
    ),
    Assumption(
        "the kernel",
        "Linux 3.x with release 0.89 of MPTCP, LIA, automatic buffers, restart after idle times",
        "not quoted; the paper counts restarts from the initial window",
    ),
    Assumption("rates of the files", "1, 2, 5 and 10 Mb/s on each path", "quoted are rates between 0.3 and 10 Mb/s"),
    Assumption(
        "the file of the quoted 13% and 200 ms",
        "1 MiB, with the slow path on WiFi and on LTE, which must agree for a verdict",
        "quoted are the rates 1 and 10 Mb/s without file and path",
    ),
    Assumption(
        "equal and never worse",
        "within 5%, and at most 2% slower",
        "the words have no numbers; ties vary by packet times",
    ),
    Assumption(
        "a video stream",
        "chunks of 5 s are written every 5 s, at bit rates of 0.5 to 4 Mb/s",
        "the simulator has no player that selects bit rates, so bit rates and resets of the window are omitted. A "
        "chunk that is missing at the end of a run counts until the end",
    ),
)
