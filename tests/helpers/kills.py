"""Runs of the command that are killed, damaged, signalled or watched from outside."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

COMMAND = ["--engine", "disk", "--hops", "6", "--r", "0,0.5", "--memory-limit", "45MB", "-q"]


def nafs(*words):
    return [sys.executable, "-m", "nafs", *(str(word) for word in words)]


class KilledRuns:
    """Embeddings of one graph in a folder, to be killed and resumed."""

    def __init__(self, graph, folder):
        self.graph, self.folder = graph, Path(folder)
        started = time.perf_counter()
        subprocess.run(self.command("whole.npy"), check=True, timeout=300)
        self.seconds = time.perf_counter() - started
        self.expected = (self.folder / "whole.npy").read_bytes()

    def command(self, name, *more):
        return nafs("embed", self.graph, *COMMAND, "-o", self.folder / name, *more)

    def kill(self, seed, damage=False):
        """Kill a run at a random moment, perhaps damage what it left, resume: what went wrong, or nothing."""
        rng, name = random.Random(seed), f"{seed}.npy"
        output, work = self.folder / name, self.folder / f"{name}.work"
        process = subprocess.Popen(self.command(name))
        try:
            process.wait(rng.uniform(0.15, 1.0) * self.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        try:
            if output.exists():
                return "" if output.read_bytes() == self.expected else "a killed run left other bytes"
            damaged = damage and self._damage(rng, work)
            again = ["--resume"] if (work / "about.json").exists() else ["--work-dir", str(work) + "2"]
            run = subprocess.run(
                self.command(name, *again), capture_output=True, text=True, timeout=300, check=False
            )
            if damaged and run.returncode == 2:
                return (
                    ""
                    if not output.exists() and "error:" in run.stderr
                    else f"refused badly: {run.stderr[-300:]}"
                )
            if run.returncode:
                return f"exit code {run.returncode}: {run.stderr[-300:]}"
            if output.read_bytes() != self.expected:
                return "other bytes after a resume" + (f" of damage to {damaged}" if damaged else "")
            left = [path.name for path in self.folder.iterdir() if path.name.startswith((name, f".{name}"))]
            left = [path for path in left if path != name and not path.endswith("2")]
            return f"left behind: {left}" if left and not damaged else ""
        except subprocess.TimeoutExpired:
            return "hung"
        finally:
            for path in self.folder.glob(f"{seed}.*"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

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
    try:
        _, shown = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hung", ""
    return process.returncode, shown.decode()


def peak_anonymous(words, timeout=300):
    """Exit code, stderr and largest anonymous memory of a command in bytes, sampled all the time."""
    process = subprocess.Popen(nafs(*words), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    rollup, peak, ends = Path(f"/proc/{process.pid}/status"), 0, time.monotonic() + timeout
    while process.poll() is None and time.monotonic() < ends:
        try:
            for line in rollup.read_text().splitlines():
                if line.startswith("RssAnon:"):
                    peak = max(peak, int(line.split()[1]) * 1024)
        except (OSError, ProcessLookupError):
            break
        time.sleep(0.005)
    if process.poll() is None and time.monotonic() >= ends:
        process.send_signal(signal.SIGKILL)
    _, shown = process.communicate()
    return process.returncode, shown.decode(), peak
