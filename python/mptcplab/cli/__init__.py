"""The command line: `main` parses and reports errors, `commands` has one module for each command."""
