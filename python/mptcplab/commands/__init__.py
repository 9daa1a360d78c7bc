"""The commands, one module each: NAME, HELP, EXAMPLE, `arguments(parser)`, `execute(arguments)`.

Heavy modules are imported when a command runs, so that `--help` answers at once.
"""

from mptcplab.commands import (
    analyse,
    bench,
    cdf,
    emulate,
    events,
    gather,
    info,
    interrupt,
    list_studies,
    merge,
    plot,
    receive,
    reproduce,
    run,
    schema,
    select,
    send,
    survey,
    sweep,
    validate,
    verify,
)

COMMANDS = (
    list_studies,
    reproduce,
    run,
    sweep,
    interrupt,
    emulate,
    validate,
    analyse,
    plot,
    cdf,
    events,
    select,
    merge,
    gather,
    bench,
    survey,
    schema,
    send,
    receive,
    verify,
    info,
)
