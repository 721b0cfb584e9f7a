"""Processes that read damaged files, watched from outside: dead and hanging ones are replaced.

Time is processor time, so that nothing seems to hang on a busy or paused machine; a process that sleeps has
the same limit in wall time.
"""

import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

SECONDS = 30  # for one case
ASLEEP = 120  # seconds by the clock without any work
TOGETHER = 50  # cases that are handed over at once


def cpu_seconds(pid):
    """Processor time that all threads of a process have taken."""
    return time.clock_gettime(((~pid) << 3) | 2)  # how Linux numbers the clocks of other processes


def is_paused(pid):
    """Whether a process is stopped from outside."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("T", "t")


class Victim:
    def __init__(self, seconds=SECONDS):
        self.seconds, self.held = seconds, b""
        helpers = Path(__file__).parent
        path = os.pathsep.join([str(helpers), *sys.path])
        self.process = subprocess.Popen(
            [sys.executable, str(helpers / "victim.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C is meant for us
            env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        self.line()

    def line(self):
        """The next line of the process; None if it takes too long, empty if it is dead."""
        while b"\n" not in self.held:
            if self._waits_too_long():
                return None
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                return b""
            self.held += more
        line, _, self.held = self.held.partition(b"\n")
        return line

    def _waits_too_long(self):
        """Wait for output; whether none came in the time that a case may take."""
        try:
            started = used = cpu_seconds(self.process.pid)
            asleep = 0
            while not select.select([self.process.stdout], [], [], 1)[0]:
                now = cpu_seconds(self.process.pid)
                asleep = 0 if now > used + 0.001 or is_paused(self.process.pid) else asleep + 1
                used = now
                if used - started > self.seconds or asleep > ASLEEP:
                    return True
        except OSError:  # it died in between
            pass
        return False

    def run(self, cases):
        """Outcomes of the cases up to the first that kills the process, and the cases after it.

        All cases are handed over at once: on a busy machine, waiting for each other takes longer than a case.
        """
        self.process.stdin.write("".join(f"{kind} {seed}\n" for kind, seed in cases).encode())
        self.process.stdin.flush()
        outcomes = []
        for i, (kind, seed) in enumerate(cases):
            line = self.line()
            if line:
                outcomes.append(json.loads(line))
                continue
            self.stop()
            bad, why = ("hung", f"{self.seconds} s") if line is None else ("crashed", self.process.returncode)
            return [*outcomes, {"bad": bad, "why": f"{why}", "kind": kind, "seed": seed}], cases[i + 1 :]
        return outcomes, []

    @property
    def alive(self):
        return self.process.poll() is None

    def stop(self):
        self.process.kill()
        with self.process:  # closes its pipes
            pass


def run_cases(cases, workers=2, seconds=SECONDS):
    """Outcomes of (kind, seed) pairs, in any order; a case that hangs is tried once more by itself."""
    outcomes = _run_once(cases, workers, seconds)
    hung = [outcome for outcome in outcomes if outcome.get("bad") == "hung"]
    again = [case for outcome in hung for case in _run_once([(outcome["kind"], outcome["seed"])], 1, seconds)]
    return [outcome for outcome in outcomes if outcome not in hung] + again


def _run_once(cases, workers, seconds):
    waiting = queue.SimpleQueue()
    for begin in range(0, len(cases), TOGETHER):
        waiting.put(cases[begin : begin + TOGETHER])
    outcomes = []

    def work():
        victim = Victim(seconds)
        try:
            while True:
                try:
                    pending = waiting.get_nowait()
                except queue.Empty:
                    return
                while pending:
                    if not victim.alive:
                        victim.stop()
                        victim = Victim(seconds)
                    done, pending = victim.run(pending)
                    outcomes.extend(done)
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
