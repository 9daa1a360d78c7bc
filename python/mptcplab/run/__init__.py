"""Many runs: batches, sweeps, the UDP interference test."""
