"""Is Multipath TCP ever slower than its best path? Networks drawn from a distribution, measured, and hunted for.

`networks` draws them, `measure` runs policies and each path's TCP over them, `oracle` says what a sender that knows
the links could reach, `report` puts it into tables and files, `pictures` draws it, `hunt` looks for the network where a
policy is worst. `short` is about files and blocks, `shared` about bottlenecks with flows of others.
"""
