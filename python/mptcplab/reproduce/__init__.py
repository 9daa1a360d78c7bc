"""Reproduction of the published studies: runs, report, record of verdicts, mutants."""
