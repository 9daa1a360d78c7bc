"""`python -m mptcplab` is the command `mptcplab`."""

import sys

from mptcplab.start import main

sys.exit(main())
