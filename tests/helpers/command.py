"""The command line in a folder with a small graph, for tests."""

import subprocess
import sys
from unittest.mock import patch

import pytest

from nafs.cli.main import main

EDGES = "source,target,weight\nann,bob,1\nbob,cy,2\ncy,dee,0.5\n"

FEATURES = "id,a,b,label\nann,1,0,red\nbob,0,1,blue\ncy,1,1,red\ndee,2,0,\n"


def run(*words):
    """Exit code of a command in this process."""
    # A busy machine must not make a short command announce its stages.
    with patch("nafs.cli.console.LONG", 600), pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code


def spawn(*words, **options):
    return subprocess.run([sys.executable, "-m", "nafs", *words], capture_output=True, check=False, **options)
