"""Processes that read damaged files, watched from outside: dead and hanging ones are replaced."""

import json
import os
import queue
import select
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

SECONDS = 30  # for one case


class Victim:
    def __init__(self, seconds=SECONDS):
        self.seconds = seconds
        helpers = Path(__file__).parent
        path = os.pathsep.join([str(helpers), *sys.path])
        self.process = subprocess.Popen(
            [sys.executable, str(helpers / "victim.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        )
        self.line(120)

    def line(self, seconds):
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline() if ready else None

    def run(self, kind, seed):
        """The outcome of one case; the process may be dead afterwards."""
        self.process.stdin.write(f"{kind} {seed}\n".encode())
        self.process.stdin.flush()
        line = self.line(self.seconds)
        if line is None:
            self.stop()
            return {"bad": "hung", "why": f"{self.seconds} s", "kind": kind, "seed": seed}
        if not line:
            code = self.process.wait()
            return {"bad": "crashed", "why": f"exit code {code}", "kind": kind, "seed": seed}
        return json.loads(line)

    @property
    def alive(self):
        return self.process.poll() is None

    def stop(self):
        self.process.kill()
        with self.process:  # closes its pipes
            pass


def run_cases(cases, workers=2, seconds=SECONDS, seen=None):
    """Outcomes of (kind, seed) pairs, in any order."""
    waiting = queue.SimpleQueue()
    for case in cases:
        waiting.put(case)
    outcomes = []

    def work():
        victim = Victim(seconds)
        try:
            while True:
                try:
                    kind, seed = waiting.get_nowait()
                except queue.Empty:
                    return
                if not victim.alive:
                    victim.stop()
                    victim = Victim(seconds)
                outcome = victim.run(kind, seed)
                outcomes.append(outcome)
                if seen is not None:
                    seen(outcome)
        finally:
            victim.stop()

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def counts(outcomes):
    """How many were read, refused, or bad in some way."""
    return Counter(
        outcome.get("bad") or ("refused" if "refused" in outcome else "read") for outcome in outcomes
    )
