"""The time of `import nafs`, against NumPy and scipy.sparse."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from common import Result


def run() -> list[Result]:
    codes = ("import nafs", "from nafs import NAFS", "import numpy, scipy.sparse", "pass")
    times = [statistics.median(seconds(code) for _ in range(9)) for code in codes]
    lazy, whole, theirs = (time_of_import - times[-1] for time_of_import in times[:-1])
    detail = (
        f"nafs {lazy:.3f} s (with scikit-learn, at first use of NAFS: {whole:.3f} s), theirs {theirs:.3f} s"
    )
    return [Result.at_most("import nafs / import numpy, scipy.sparse", lazy / theirs, 2.0, detail)]


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start
