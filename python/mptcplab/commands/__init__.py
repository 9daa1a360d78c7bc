"""The commands, one module each: NAME, HELP, EXAMPLE, `arguments(parser)`, `execute(arguments)`.

Heavy modules are imported when a command runs, so that `--help` answers at once.
"""

from mptcplab.commands import (
    analyse,
    bench,
    cdf,
    events,
    example,
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
    study,
    survey,
    sweep,
    verify,
    why,
)

COMMANDS = (
    list_studies,
    study,
    reproduce,
    example,
    run,
    why,
    sweep,
    interrupt,
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
