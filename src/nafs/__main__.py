"""``python -m nafs``."""

from nafs.cli.main import main

main()
