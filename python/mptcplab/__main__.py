"""`python -m mptcplab` is the command `mptcplab`."""

import sys

from mptcplab.cli import main

sys.exit(main())
