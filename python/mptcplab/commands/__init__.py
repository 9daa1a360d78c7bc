"""The commands, one module each: NAME, HELP, EXAMPLE, `arguments(parser)`, `execute(arguments)`.

Heavy modules are imported when a command runs, so that `--help` answers at once.
"""

from mptcplab.commands import bench, list_studies, reproduce, run, schema, sweep

COMMANDS = (list_studies, reproduce, run, sweep, bench, schema)
