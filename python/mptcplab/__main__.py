"""Makes `python -m mptcplab` run the command `mptcplab`, for shells whose PATH lacks the command."""

import sys

from mptcplab.start import main

sys.exit(main())
