"""The grid of memory limits: every command on every shape of input within several limits.

A cell is a command, a shape and a limit in MB. It is kept if the command's anonymous memory stays within the
limit, or if the command refuses the limit and says so.
"""

import shutil

import numpy as np
import scipy.sparse as sp
from kills import peak_anonymous

from nafs import Graph
from nafs.datasets import power_law
from nafs.model import Model
from nafs.pipeline import Settings

NODES, EDGES, WIDE, LARGE = 20_000, 150_000, 20_000, 60_000
SHAPES = {
    "saved": ["saved"],
    "wide": ["wide"],
    "bare": ["edges.csv"],  # without features
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
    "embed and keep": ["embed", "INPUT", "--hops", "3", "-o", "OUT.npy", "--keep", "OUT"],
    "update": ["update", "MODEL", "--edges", "few.csv", "-o", "OUT.npy"],
    "update of much": ["update", "MODEL", "--edges", "many.csv", "-o", "OUT.npy"],
    "cluster": ["cluster", "INPUT", "--clusters", "4", "-o", "OUT.csv"],
    "classify": ["classify", "INPUT", "--hops", "3", "-o", "OUT.csv"],
    "suggest-links": ["suggest-links", "INPUT", "--hops", "3", "--score", "cosine", "-k", "5"],
    "evaluate": ["evaluate", "INPUT", "--task", "classification", "--hops", "3", "--seeds", "1"],
    "similar": ["similar", "vectors.npy", "7", "-k", "5"],
    "similar to all": ["similar", "vectors.npy", "--all", "-k", "5", "-o", "OUT.parquet"],
    "report": ["report", "few.npy", "-o", "OUT.html"],
    "report of a graph": ["report", "INPUT", "--hops", "3", "-o", "OUT.html"],
    "explore": ["explore", "few.npy", "--no-browser"],
}
ALONE = ("similar", "similar to all", "report", "explore", "update", "update of much")  # INPUT is not read
NEED_FEATURES = ("classify", "evaluate", "embed and keep")
LIMITS = (120, 250, 500)  # MB
CELLS = [
    (command, shape, limit)
    for command in COMMANDS
    for shape in (("saved",) if command in ALONE else SHAPES)
    for limit in (*LIMITS, *((700,) if command in ("report", "explore", "report of a graph") else ()))
    if not (shape == "bare" and command in NEED_FEATURES)
]
LARGE_CELLS = [("embed auto", "large", 500), ("cluster", "large", 500)]


def write_inputs(folder):
    """One graph in several shapes, an embedding and a model of it."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, NODES, (2, EDGES))
    adjacency = sp.coo_array((np.ones(EDGES, np.int8), tuple(ends)), shape=(NODES, NODES)).tocsr()
    dense = rng.random((NODES, 64), dtype=np.float32)
    labels = np.where(rng.random(NODES) < 0.5, dense[:, 0] > 0.5, -1)
    known = [None if label < 0 else int(label) for label in labels]
    entries = (rng.integers(0, NODES, 10 * NODES), rng.integers(0, WIDE, 10 * NODES))
    wide = sp.coo_array((np.ones(10 * NODES, np.float32), entries), shape=(NODES, WIDE)).tocsr()
    graph = Graph(adjacency, dense, labels=known, directed=False)
    graph.save(folder / "saved")
    Model.build(graph, Settings.of(n_hops=3)).save(folder / "model")
    for name, count in (("few", 20), ("many", 20_000)):
        pairs = rng.integers(0, NODES, (count, 2)).tolist()
        (folder / f"{name}.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs))
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


def measure(inputs, scratch, cell, longest=300):
    """Exit code, largest anonymous memory in bytes, and what is wrong with it ("" if nothing)."""
    command, shape, megabytes = cell
    if shape == "large" and not (inputs / "large").exists():
        power_law(LARGE, average_degree=8, n_features=64, seed=1).save(inputs / "large")
    words = []
    for word in [*COMMANDS[command], "--memory-limit", f"{megabytes}MB"]:
        words += SHAPES.get(shape, [shape]) if word == "INPUT" else [word]
    if "MODEL" in words:  # it is changed
        words[words.index("MODEL")] = str(shutil.copytree(inputs / "model", scratch / "model"))
    words = [str(scratch / word.replace("OUT", "z")) if word.startswith("OUT") else word for word in words]
    code, shown, peak = peak_anonymous(words, longest, cwd=inputs)
    wrong = ""
    if code not in (0, 2) or (code == 2 and "memory" not in shown.lower()):
        wrong = f"exit code {code}: {shown[-300:]}"
    elif peak > megabytes * 10**6:
        wrong = f"{peak / 1e6:.0f} MB anonymous, limit {megabytes} MB: {shown[-300:]}"
    return code, peak, wrong
