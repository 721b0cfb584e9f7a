"""Damage files, kill runs and damage work folders for an hour or two; write the counts into the docs.

    python tools/torture.py --mutations 100000 --kills 200 --model-kills 200

The run can be stopped at any time: the same command resumes it. Cases that were handled badly are kept in
tests/hostile/seeds.json, where the fast tests try them again. After a fix, `--retry` tries them again here;
the page counts them separately.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "helpers"))
SEEDS = ROOT / "tests" / "hostile" / "seeds.json"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- torture -->", "<!-- /torture -->"
BATCH = 1000


class Progress:
    """Counts of one part of the run, stored in a file."""

    def __init__(self, folder: Path, part: str, seed: int) -> None:
        self.path = folder / f"{part}-{seed}.json"
        state = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.done: int = state.get("done", 0)
        self.seconds: float = state.get("seconds", 0.0)
        self.outcomes: Counter[str] = Counter(state.get("outcomes", {}))
        self.kinds: Counter[str] = Counter(state.get("kinds", {}))
        self.bad: list[dict[str, Any]] = state.get("bad", [])
        self.fixed: int = state.get("fixed", 0)
        self.started = time.monotonic()

    def add(
        self,
        tried: int,
        outcomes: Counter[str],
        bad: list[dict[str, Any]],
        kinds: Counter[str] | None = None,
    ) -> None:
        """Count a batch and save."""
        self.done += tried
        self.kinds += kinds or Counter()
        self.outcomes += outcomes
        self.bad += bad
        now = time.monotonic()
        self.seconds, self.started = self.seconds + now - self.started, now
        names = ("done", "seconds", "outcomes", "kinds", "bad", "fixed")
        self.path.write_text(json.dumps({name: getattr(self, name) for name in names}, indent=1))
        for case in bad:
            print(json.dumps(case), flush=True)
        print(f"{self.path.stem}: {self.done:,}, {dict(self.outcomes)}", flush=True)

    def replace(self, outcomes: Counter[str], bad: list[dict[str, Any]]) -> None:
        """Count the bad cases again, after a change of the code."""
        self.fixed += len(self.bad) - len(bad)
        before = Counter(case["bad"] for case in self.bad)
        self.outcomes, self.bad = self.outcomes - before, []
        self.add(0, outcomes, bad)


def mutations(progress: Progress, count: int, seed: int, workers: int) -> None:
    """Try damaged files until the requested number is reached."""
    from corpus import kinds, share
    from pool import counts, run_cases

    names = list(kinds())
    shares = {name: share(name) for name in names}
    while progress.done < count:
        batch = []
        for i in range(progress.done, min(count, progress.done + BATCH)):
            rng = random.Random(f"{seed}/{i}")
            batch.append((rng.choices(names, list(shares.values()))[0], rng.randrange(1, 2**48)))
        outcomes = run_cases(batch, workers)
        bad = [outcome for outcome in outcomes if "bad" in outcome]
        keep([[outcome["kind"], outcome["seed"]] for outcome in bad])
        tables = Counter("tables" for kind, _ in batch if shares[kind] < 1)
        progress.add(len(batch), counts(outcomes), bad, tables)


def retry(progress: Progress) -> None:
    """Try again the damaged files that were handled badly."""
    from pool import counts, run_cases

    outcomes = run_cases([(case["kind"], case["seed"]) for case in progress.bad], 1)
    progress.replace(counts(outcomes), [outcome for outcome in outcomes if "bad" in outcome])


def kills(progress: Progress, count: int, seed: int) -> None:
    """Kill and resume the requested number of runs, every second one with a damaged work folder."""
    from kills import KilledRuns

    from nafs.datasets import power_law

    if progress.done >= count:
        return
    with tempfile.TemporaryDirectory(prefix="nafs-torture-") as folder:
        power_law(60_000, average_degree=8, n_features=64, seed=1).save(Path(folder) / "graph")
        runs = KilledRuns(Path(folder) / "graph", folder)
        try:
            for i in range(progress.done, count):
                wrong = runs.kill(10_000 * seed + i, damage=i % 2 == 1)
                bad = [{"bad": "kill", "seed": 10_000 * seed + i, "why": wrong}] if wrong else []
                progress.add(1, Counter(["bad" if wrong else "well"]), bad)
        finally:
            runs.starter.stop()


def model_kills(progress: Progress, count: int, seed: int) -> None:
    """Kill commands that save and update models, until the requested number is reached."""
    from killed_models import KilledModels

    from nafs.datasets import power_law

    if progress.done >= count:
        return
    with tempfile.TemporaryDirectory(prefix="nafs-torture-") as folder:
        power_law(20_000, average_degree=8, n_features=64, seed=1).save(Path(folder) / "graph")
        models = KilledModels(Path(folder) / "graph", folder)
        try:
            for i in range(progress.done, count):
                wrong = models.kill(10_000 * seed + i)
                bad = [{"bad": "kill", "seed": 10_000 * seed + i, "why": wrong}] if wrong else []
                progress.add(1, Counter(["bad" if wrong else "well"]), bad)
        finally:
            models.starter.stop()


def keep(cases: list[list[object]]) -> None:
    """Add cases to those that the fast tests try again."""
    if not cases:
        return
    known = json.loads(SEEDS.read_text()) if SEEDS.exists() else []
    known += [case for case in cases if case not in known]
    SEEDS.write_text("[\n" + ",\n".join(f"  {json.dumps(case)}" for case in known) + "\n]\n")


def totals(folder: Path, part: str) -> Progress:
    """The counts of one part over all seeds."""
    whole = Progress(folder, part, 0)
    for path in sorted(folder.glob(f"{part}-*.json")):
        share = Progress(folder, part, int(path.stem.rpartition("-")[2]))
        whole.done, whole.seconds = whole.done + share.done, whole.seconds + share.seconds
        whole.outcomes, whole.kinds = whole.outcomes + share.outcomes, whole.kinds + share.kinds
        whole.bad, whole.fixed = whole.bad + share.bad, whole.fixed + share.fixed
    return whole


def write_page(folder: Path) -> None:
    """Put the counts of all seeds between the marks on the page."""
    files, runs, models = (totals(folder, part) for part in ("mutations", "kills", "models"))
    tried, tables = files.outcomes, files.kinds["tables"]
    rows = [
        ("damaged files tried", files.done),
        ("of them tables of text and Parquet; the others are matrices, archives and folders", tables),
        ("read", tried["read"]),
        ("refused with one line", tried["refused"]),
        ("crashed", tried["crashed"] + tried["exception"]),
        ("hung", tried["hung"]),
        ("silently wrong", tried["wrong"]),
        ("took too much memory, or a message of several lines", tried["memory"] + tried["message"]),
        ("runs killed (kill -9) and resumed, half of them with a damaged work folder", runs.done),
        ("commands killed while they built, replaced or updated a saved model", models.done),
        ("of both bad", runs.outcomes["bad"] + models.outcomes["bad"]),
    ]
    assert sum(count for _, count in rows[2:8]) == files.done
    lines = ["| | count |", "|---|---:|", *(f"| {name} | {count:,} |" for name, count in rows)]
    seeds = ", ".join(sorted(path.stem.rpartition("-")[2] for path in folder.glob("mutations-*.json")))
    fixed = (
        f" {files.fixed} of the files were handled badly, or judged wrongly by the harness, at first; "
        "fixed and tried again."
    )
    minutes = (files.seconds + runs.seconds + models.seconds) / 60
    about = (
        f"Written by `make torture` (seeds {seeds}, {minutes:.0f} minutes, "
        f"Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}).{fixed if files.fixed else ''}"
    )
    text = "\n".join([BEGIN, *lines, "", about, END])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: text, page, flags=re.DOTALL), encoding="utf-8")


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutations", type=int, default=100_000, help="damaged files to try")
    parser.add_argument("--kills", type=int, default=200, help="runs to kill")
    parser.add_argument("--model-kills", type=int, default=200, help="commands to kill that save models")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="processes that read damaged files")
    parser.add_argument(
        "--state", type=Path, default=ROOT / "build" / "torture", help="folder for the counts"
    )
    parser.add_argument("--only", choices=["mutations", "kills", "models", "page"], help="run only one part")
    parser.add_argument("--retry", action="store_true", help="try bad cases again with the present code")
    options = parser.parse_args()
    options.state.mkdir(parents=True, exist_ok=True)
    parts = ("mutations", "kills", "models")
    files, runs, models = (Progress(options.state, part, options.seed) for part in parts)
    if options.retry:
        retry(files)
    if options.only in (None, "mutations"):
        mutations(files, options.mutations, options.seed, options.workers)
    if options.only in (None, "kills"):
        kills(runs, options.kills, options.seed)
    if options.only in (None, "models"):
        model_kills(models, options.model_kills, options.seed)
    write_page(options.state)
    sys.exit(int(bool(files.bad or runs.bad or models.bad)))


if __name__ == "__main__":
    main()
