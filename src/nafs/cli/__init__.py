"""The command line: one file per command, without application logic."""
