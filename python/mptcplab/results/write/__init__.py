"""Files of results: Parquet, JSON, qlog, iperf3; merged results."""
