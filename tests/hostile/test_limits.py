"""Anonymous memory of every command stays within --memory-limit, or the command refuses before it starts.

Every command runs on one shape of input within one limit; `--slow` runs all of them on all shapes and limits.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from kills import peak_anonymous

from nafs import Graph

NODES, EDGES, WIDE = 20_000, 150_000, 20_000


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One graph in several shapes, and an embedding of it."""
    folder = tmp_path_factory.mktemp("limits")
    rng = np.random.default_rng(0)
    ends = rng.integers(0, NODES, (2, EDGES))
    adjacency = sp.coo_array((np.ones(EDGES, np.int8), tuple(ends)), shape=(NODES, NODES)).tocsr()
    dense = rng.random((NODES, 64), dtype=np.float32)
    labels = np.where(rng.random(NODES) < 0.5, dense[:, 0] > 0.5, -1)
    known = [None if label < 0 else int(label) for label in labels]
    entries = (rng.integers(0, NODES, 10 * NODES), rng.integers(0, WIDE, 10 * NODES))
    wide = sp.coo_array((np.ones(10 * NODES, np.float32), entries), shape=(NODES, WIDE)).tocsr()
    Graph(adjacency, dense, labels=known, directed=False).save(folder / "saved")
    Graph(adjacency, wide, labels=known, directed=False).save(folder / "wide")
    sp.save_npz(folder / "edges.npz", adjacency)
    sp.save_npz(folder / "wide.npz", wide)
    np.save(folder / "labels.npy", labels)
    with (folder / "edges.csv").open("w") as file:
        file.write("source,target\n")
        file.writelines(f"n{a},n{b}\n" for a, b in ends.T.tolist())
    with (folder / "nodes.csv").open("w") as file:
        file.write("id,label," + ",".join(f"x{i}" for i in range(16)) + "\n")
        for i, row in enumerate(dense[:, :16].round(3).tolist()):
            label = "" if known[i] is None else known[i]
            file.write(f"n{i},{label}," + ",".join(map(str, row)) + "\n")
    np.save(folder / "vectors.npy", dense)
    np.save(folder / "few.npy", dense[:1500])
    return folder


SHAPES = {
    "saved": ["saved"],
    "wide": ["wide"],
    "tables": ["edges.csv", "-f", "nodes.csv", "--missing", "zeros"],
    "matrices": ["edges.npz", "-f", "wide.npz", "-l", "labels.npy"],
}
COMMANDS = {
    "describe": ["describe", "INPUT"],
    "convert": ["convert", "INPUT", "OUT"],
    "plan": ["plan", "INPUT", "--hops", "3"],
    "embed": ["embed", "INPUT", "--hops", "3", "-o", "OUT.npy"],
    "embed on disk": ["embed", "INPUT", "--hops", "3", "--engine", "disk", "-o", "OUT.npy"],
    "embed reduced": ["embed", "INPUT", "--hops", "3", "--dim", "32", "-o", "OUT.npy"],
    "embed auto": ["embed", "INPUT", "--hops", "auto", "-o", "OUT.parquet"],
    "cluster": ["cluster", "INPUT", "--clusters", "4", "-o", "OUT.csv"],
    "classify": ["classify", "INPUT", "--hops", "3", "-o", "OUT.csv"],
    "suggest-links": ["suggest-links", "INPUT", "--hops", "3", "--score", "cosine", "-k", "5"],
    "evaluate": ["evaluate", "INPUT", "--task", "classification", "--hops", "3", "--seeds", "1"],
    "similar": ["similar", "vectors.npy", "7", "-k", "5"],
    "similar to all": ["similar", "vectors.npy", "--all", "-k", "5", "-o", "OUT.parquet"],
    "report": ["report", "few.npy", "-o", "OUT.html"],
}
ALONE = ("similar", "similar to all", "report")  # their input is an embedding
LIMITS = (120, 250, 500, 700)
QUICK = {  # one shape and limit of every command
    ("describe", "tables", 250),
    ("convert", "tables", 250),
    ("plan", "matrices", 250),
    ("embed", "saved", 250),
    ("embed on disk", "saved", 120),
    ("embed reduced", "wide", 500),
    ("embed auto", "saved", 500),
    ("cluster", "saved", 500),
    ("classify", "saved", 500),
    ("suggest-links", "matrices", 500),
    ("evaluate", "saved", 500),
    ("similar", "saved", 250),
    ("similar to all", "saved", 250),
    ("report", "saved", 700),
}
ALL = [
    (command, shape, limit)
    for command in COMMANDS
    for shape in (("saved",) if command in ALONE else SHAPES)
    for limit in LIMITS
]


@pytest.mark.parametrize(
    ("command", "shape", "megabytes"),
    [pytest.param(*case, marks=[] if case in QUICK else pytest.mark.slow) for case in ALL],
)
def test_limits_are_kept(place, tmp_path, command, shape, megabytes):
    words = []
    for word in [*COMMANDS[command], "--memory-limit", f"{megabytes}MB"]:
        words += SHAPES[shape] if word == "INPUT" else [word]
    words = [str(tmp_path / word.replace("OUT", "z")) if word.startswith("OUT") else word for word in words]
    code, shown, peak = peak_anonymous(words, cwd=place)
    print(f"{command} {shape}: {peak / 1e6:.0f} MB of {megabytes} MB, exit code {code}")
    assert code in (0, 2), shown
    if code == 2:
        assert "memory" in shown.lower(), shown
    assert peak <= megabytes * 10**6, f"{peak / 1e6:.0f} MB anonymous, limit {megabytes} MB: {shown[-300:]}"
