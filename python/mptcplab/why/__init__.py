"""The command `why`: the limiting factors of a flow, and the changes that raise its goodput."""
