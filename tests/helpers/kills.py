"""Runs of the command that are killed, damaged, signalled or watched from outside."""

import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from pool import cpu_seconds, is_paused

LONGEST = 60  # processor seconds after which a run counts as hanging
COMMAND = ["--engine", "disk", "--hops", "6", "--r", "0,0.5", "--memory-limit", "120MB", "-q"]


def nafs(*words):
    return [sys.executable, "-m", "nafs", *(str(word) for word in words)]


class Starter:
    """Starts commands in a process that has imported everything already."""

    def __init__(self):
        helpers = Path(__file__).parent
        self.process = subprocess.Popen(
            [sys.executable, str(helpers / "starter.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
        )
        assert self.process.stdout.readline() == "ready\n"

    def run(self, words, errors, cpu=LONGEST):
        """Exit code and processor seconds of a command, which is killed (-9) after some of them."""
        self.process.stdin.write(json.dumps([str(errors), *map(str, words)]) + "\n")
        self.process.stdin.flush()
        pid, used = int(self.process.stdout.readline()), 0.0
        while not select.select([self.process.stdout], [], [], 0.001)[0]:
            try:
                used = cpu_seconds(pid)
            except OSError:  # it has ended
                continue
            if used >= cpu:
                os.kill(pid, signal.SIGKILL)  # the starter has not waited for it yet
                break
        return int(self.process.stdout.readline()), used

    def stop(self):
        self.process.kill()
        with self.process:
            pass


class KilledRuns:
    """Embeddings of one graph in a folder, to be killed and resumed."""

    def __init__(self, graph, folder):
        self.graph, self.folder, self.starter = graph, Path(folder), Starter()
        code, self.seconds = self.run("whole.npy")
        assert code == 0, self.said()
        self.expected = (self.folder / "whole.npy").read_bytes()

    def run(self, name, *more, cpu=LONGEST):
        words = ["embed", self.graph, *COMMAND, "-o", self.folder / name, *more]
        return self.starter.run(words, self.folder / "errors.txt", cpu)

    def said(self):
        return (self.folder / "errors.txt").read_text(errors="replace")

    def kill(self, seed, damage=False):
        """Kill a run at a random moment, perhaps damage its files, and resume it. Returns what went wrong."""
        rng, name = random.Random(seed), f"{seed}.npy"
        output, work = self.folder / name, self.folder / f"{name}.work"
        try:
            self.run(name, cpu=rng.uniform(0.02, 1.0) * self.seconds)
            if output.exists():
                return "" if output.read_bytes() == self.expected else "a killed run left other bytes"
            damaged = damage and self._damage(rng, work)
            again = ["--resume"] if (work / "about.json").exists() else ["--work-dir", str(work) + "2"]
            code, _ = self.run(name, *again)
            return self._judge(code, output, damaged)
        finally:
            for path in [*self.folder.glob(f"{seed}.*"), *self.folder.glob(f".{seed}.*")]:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _judge(self, code, output, damaged):
        if code == -signal.SIGKILL:
            return "hung"
        if damaged and code == 2:
            refused = not output.exists() and "error:" in self.said()
            return "" if refused else f"refused badly: {self.said()[-300:]}"
        if code:
            return f"exit code {code}: {self.said()[-300:]}"
        if output.read_bytes() != self.expected:
            return "other bytes after a resume" + (f" of damage to {damaged}" if damaged else "")
        name = output.name
        leftovers = [path.name for path in self.folder.iterdir() if path.name.startswith((name, f".{name}"))]
        leftovers = [path for path in leftovers if path != name and not path.endswith("2")]
        return f"left behind: {leftovers}" if leftovers and not damaged else ""

    def _damage(self, rng, work):
        """Flip, cut or remove something in a work folder; the name of the file."""
        files = sorted(path for path in work.rglob("*") if path.is_file() and path.stat().st_size)
        if not files:
            return ""
        path = rng.choice(files)
        size = path.stat().st_size
        kind = rng.randrange(4)
        if kind == 0:
            path.unlink()
        elif kind == 1:
            os.truncate(path, rng.randrange(size))
        else:
            at = rng.randrange(min(size, 128)) if kind == 2 else rng.randrange(size)
            with path.open("r+b") as file:
                file.seek(at)
                old = file.read(1)
                file.seek(at)
                file.write(bytes([old[0] ^ (1 << rng.randrange(8))]))
        return path.name


def signalled(words, seconds, number):
    """Exit code and stderr of a command that gets a signal after a while."""
    process = subprocess.Popen(nafs(*words), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    time.sleep(seconds)
    process.send_signal(number)
    left = 60  # seconds, without those that it is paused
    while left:
        try:
            _, shown = process.communicate(timeout=1)
            return process.returncode, shown.decode()
        except subprocess.TimeoutExpired:
            left -= not is_paused(process.pid)
    process.kill()
    process.communicate()
    return "hung", ""


def peak_anonymous(words, longest=300, cwd=None):
    """Exit code, stderr and largest anonymous memory of a command in bytes, sampled all the time.

    It is killed after some processor seconds.
    """
    process = subprocess.Popen(nafs(*words), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=cwd)
    status, peak = Path(f"/proc/{process.pid}/status"), 0
    while process.poll() is None:
        try:
            for line in status.read_text().splitlines():
                if line.startswith("RssAnon:"):
                    peak = max(peak, int(line.split()[1]) * 1024)
            if cpu_seconds(process.pid) > longest:
                process.send_signal(signal.SIGKILL)
                break
        except (OSError, ProcessLookupError):
            break
        time.sleep(0.005)
    _, shown = process.communicate()
    return process.returncode, shown.decode(), peak
