"""Results of benchmarks as JSON, each with its date, machine and commit."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from common import THREADS, Result

from nafs.smoothing import _kernel

LATEST = Path(__file__).parent / "results" / "latest.json"

Line = dict[str, Any]


def read_lines(path: Path) -> list[Line]:
    """The lines of a file; none if it does not exist."""
    return list(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else []


def write_lines(path: Path, lines: Sequence[Line]) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(list(lines), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(new, path)


def lines_of(benchmark: str, results: Sequence[Result]) -> list[Line]:
    """Results of one benchmark, with the place and time of the measurement."""
    stamp = {
        "benchmark": benchmark,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "commit": commit(),
        "machine": machine(),
    }
    return [{**stamp, **asdict(result)} for result in results]


def merge(old: Sequence[Line], new: Sequence[Line]) -> list[Line]:
    """New lines of a benchmark replace all of its older ones, so that renamed lines disappear."""
    newest: dict[str, str] = {}
    for line in (*old, *new):
        newest[line["benchmark"]] = max(line["date"], newest.get(line["benchmark"], ""))
    merged = {
        (line["benchmark"], line["name"]): line
        for line in (*old, *new)
        if line["date"] == newest[line["benchmark"]]
    }
    return list(merged.values())


def machine() -> str:
    """Processor, threads, last-level cache, memory and instruction set."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    cache = _last_level_cache()
    parts = [
        f"{_processor()}, {THREADS} of {os.cpu_count()} cores",
        *([f"{cache} of last-level cache"] if cache else []),
        f"{memory:.0f} GB of memory",
        f"loops for {_kernel.in_use()}",
        f"{platform.system()} {platform.machine()}",
    ]
    return ", ".join(parts)


def _processor() -> str:
    """The name, and family and model because virtual machines often shorten the name."""
    facts: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            facts.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    name = facts.get("model name") or platform.processor() or "unknown processor"
    if "cpu family" in facts:
        name += f" (family {facts['cpu family']}, model {facts['model']})"
    return name


def _last_level_cache() -> str:
    sizes = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"))
    text = sizes[-1].read_text().strip() if sizes else ""
    return f"{int(text[:-1]) // 1024} MB" if text.endswith("K") else text


def commit() -> str:
    """The commit in use, with a plus if tracked files differ from it."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        name = subprocess.run(
            [*git, "rev-parse", "--short=9", "HEAD"], capture_output=True, text=True, check=True
        )
        changes = subprocess.run(
            [*git, "status", "--porcelain", "--untracked-files=no", "--", "../src", "."],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return name.stdout.strip() + ("+" if changes.stdout.strip() else "")
