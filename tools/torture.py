"""Damage files, kill runs and damage work folders for an hour or two; write the counts into the docs.

    python tools/torture.py --mutations 100000 --kills 200 --minutes 60

The seeds of everything that went wrong are kept in tests/hostile/seeds.json; the fast tests try them again.
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

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "helpers"))
SEEDS = ROOT / "tests" / "hostile" / "seeds.json"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- torture -->", "<!-- /torture -->"


def mutations(count: int, minutes: float, seed: int, workers: int) -> Counter[str]:
    """Outcomes of damaged files; bad ones are kept."""
    from corpus import kinds
    from pool import counts, run_cases

    names, outcomes, ends = list(kinds()), Counter(), time.monotonic() + 60 * minutes
    rng = random.Random(seed)
    while sum(outcomes.values()) < count and time.monotonic() < ends:
        batch = [(rng.choice(names), rng.randrange(1, 2**48)) for _ in range(min(500, count))]
        found = run_cases(batch, workers)
        outcomes += counts(found)
        keep([[outcome["kind"], outcome["seed"]] for outcome in found if "bad" in outcome])
        for outcome in found:
            if "bad" in outcome:
                print(json.dumps(outcome), flush=True)
        print(f"{sum(outcomes.values()):,} of {count:,}: {dict(outcomes)}", flush=True)
    return outcomes


def kills(count: int, seed: int) -> Counter[str]:
    """Outcomes of killed runs, every second one with a damaged work folder."""
    from kills import KilledRuns

    from nafs.datasets import power_law

    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="nafs-torture-") as folder:
        power_law(60_000, average_degree=8, n_features=64, seed=1).save(Path(folder) / "graph")
        runs = KilledRuns(Path(folder) / "graph", folder)
        for i in range(count):
            wrong = runs.kill(seed + i, damage=i % 2 == 1)
            outcomes["bad" if wrong else "same bytes, or refused"] += 1
            print(f"kill {i + 1} of {count}, seed {seed + i}: {wrong or 'well'}", flush=True)
    return outcomes


def keep(cases: list[list[object]]) -> None:
    """Add cases to those that the fast tests try again."""
    if not cases:
        return
    known = json.loads(SEEDS.read_text()) if SEEDS.exists() else []
    known += [case for case in cases if case not in known]
    SEEDS.write_text("[\n" + ",\n".join(f"  {json.dumps(case)}" for case in known) + "\n]\n")


def write_page(found: Counter[str], killed: Counter[str], seed: int, seconds: float) -> None:
    """Put the counts between the marks on the page."""
    bad = {"crashed", "hung", "wrong", "exception", "message", "memory"}
    rows = [
        ("damaged files tried", sum(found.values())),
        ("read", found["read"]),
        ("refused with one line", found["refused"]),
        ("crashed", found["crashed"] + found["exception"]),
        ("hung", found["hung"]),
        ("silently wrong", found["wrong"]),
        ("took too much memory, or a message of several lines", found["memory"] + found["message"]),
        ("kill -9 and damaged work folders tried", sum(killed.values())),
        ("of them bad", killed["bad"]),
    ]
    assert sum(found[name] for name in bad) == sum(found.values()) - found["read"] - found["refused"]
    lines = ["| | count |", "|---|---:|", *(f"| {name} | {count:,} |" for name, count in rows)]
    about = (
        f"Written by `make torture` (seed {seed}, {seconds / 60:.0f} minutes, "
        f"Python {platform.python_version()}, {time.strftime('%Y-%m-%d')})."
    )
    text = "\n".join([BEGIN, *lines, "", about, END])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: text, page, flags=re.DOTALL), encoding="utf-8")


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutations", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=600, help="stop damaging files after this time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    started = time.monotonic()
    killed = kills(given.kills, 10_000 * given.seed)
    found = mutations(given.mutations, given.minutes, given.seed, given.workers)
    write_page(found, killed, given.seed, time.monotonic() - started)
    print(dict(found), dict(killed))
    sys.exit(int(bool(killed["bad"] or sum(found.values()) - found["read"] - found["refused"])))


if __name__ == "__main__":
    main()
