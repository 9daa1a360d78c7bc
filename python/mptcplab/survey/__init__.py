"""Surveys: MPTCP compared with its best path on generated networks.

`networks` generates them, `measure` runs policies and plain TCP over each path, `upper_bound` computes the best
possible result. `report` writes tables and files, `survey_plots` draws. `worst_case` searches for the worst network of
a policy. `short_flows` measures files and blocks, `shared_bottleneck` competing flows.
"""
