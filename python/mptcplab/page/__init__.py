"""The page in the browser: its server, its security bounds, and live connections (`mptcplab page`)."""
