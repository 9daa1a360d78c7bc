"""A scenario as network namespaces on this machine, joined by emulated links."""
