"""Reproduction of the published studies: runs, report, record of verdicts, mutants.

A study re-examines one publication by simulation. It tests claims of the publication; the result of a test is a
verdict, for example *holds* or *fails*. A mutant is a planted error, which shows whether a verdict depends on the
protocol.
"""
