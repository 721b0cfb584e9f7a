"""Models whose saving is killed: at random moments by a signal, or before each step on the file system."""

import os
import random
import shutil
import sys
from pathlib import Path

import numpy as np
from kills import Starter

from nafs.model import Model

WATCHED = {"open", "os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.chmod", "os.truncate", "os.listdir"}


def content(folder):
    """Ids and embedding of a model, as bytes."""
    model = Model.load(folder, n_threads=1)
    return model.ids.tolist(), np.ascontiguousarray(model.matrix).tobytes()


def die_at(step, place, call):
    """Run a call in a process that dies before a step on a folder; whether it lived to the end."""
    child = os.fork()
    if child == 0:
        left = [step]

        def count(event, arguments):
            if event in WATCHED and any(str(place) in str(argument) for argument in arguments):
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)

        sys.addaudithook(count)
        call()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class KilledModels:
    """Commands that save models, killed and run again."""

    def __init__(self, graph, folder):
        self.graph, self.folder, self.starter = graph, Path(folder), Starter()
        few, many = self.folder / "few.csv", self.folder / "many.csv"
        few.write_text("source,target\n1,5\n2,900000\n")
        nodes = range(0, 2000, 2)
        many.write_text("source,target\n" + "".join(f"{i},{i + 7}\n" for i in nodes))
        base = ["embed", graph, "--structure", "none", "--threads", 1, "-q", "--force"]
        self.commands = {
            "embed": [*base, "--hops", 2, "-o", "Z", "--keep", "MODEL"],
            "again": [*base, "--hops", 3, "-o", "Z", "--keep", "MODEL"],
            "few": ["update", "MODEL", "--edges", few, "--missing", "zeros", "--threads", 1, "-q"],
            "many": ["update", "MODEL", "--edges", many, "--threads", 1, "-q"],
        }
        self.old = self.folder / "old"
        self.seconds, self.after = {}, {}
        for name in self.commands:
            target = self.folder / name
            self._prepare(name, target)
            code, self.seconds[name] = self.run(name, target)
            assert code == 0, self.said()
            self.after[name] = content(target)
            if name == "embed":
                target.rename(self.old)
        self.before = content(self.old)

    def _prepare(self, name, target):
        if name != "embed":
            shutil.copytree(self.old, target)

    def run(self, name, target, **limit):
        words = [target if word == "MODEL" else word for word in self.commands[name]]
        words = [self.folder / "z.npy" if word == "Z" else word for word in words]
        return self.starter.run(words, self.folder / "errors.txt", **limit)

    def said(self):
        return (self.folder / "errors.txt").read_text(errors="replace")

    def kill(self, seed):
        """Kill a command at a random moment and run it again: what went wrong, or nothing."""
        rng = random.Random(seed)
        name, late = rng.choice(sorted(self.commands)), rng.random() < 0.6
        target = self.folder / f"model{seed}"
        self._prepare(name, target)
        try:
            self.run(name, target, cpu=rng.uniform(0.5 if late else 0.02, 1.0) * self.seconds[name])
            return self._judge(name, target)
        finally:
            for path in [target, *self.folder.glob(f".model{seed}.*")]:
                shutil.rmtree(path, ignore_errors=True)

    def _judge(self, name, target):
        if not target.exists():
            if name != "embed":
                return f"{name}: the model is gone"
        elif content(target) not in ([] if name == "embed" else [self.before]) + [self.after[name]]:
            return f"{name}: neither the old nor the new model"
        elif content(target) == self.after[name]:
            return ""
        code, _ = self.run(name, target)
        if code:
            return f"{name} again: exit code {code}: {self.said()[-300:]}"
        if content(target) != self.after[name]:
            return f"{name} again: another model"
        left = [path.name for path in self.folder.glob(f".{target.name}.*")]
        left += [path.name for path in target.glob(".*")]
        return f"{name}: left behind: {left}" if left else ""
