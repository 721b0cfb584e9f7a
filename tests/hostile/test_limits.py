"""Anonymous memory of every command stays within --memory-limit, or the command refuses before it starts.

Every command runs on one shape of input within one limit; `--slow` runs all of them on all shapes and limits.
"""

import shutil

import numpy as np
import pytest
import scipy.sparse as sp
from kills import peak_anonymous

from nafs import Graph
from nafs.datasets import power_law
from nafs.model import Model
from nafs.pipeline import Settings

NODES, EDGES, WIDE = 20_000, 150_000, 20_000


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One graph in several shapes, an embedding and a model of it."""
    folder = tmp_path_factory.mktemp("limits")
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
    return folder


@pytest.fixture(scope="module")
def large(place):
    """A graph of 60,000 nodes."""
    if not (place / "large").exists():
        power_law(60_000, average_degree=8, n_features=64, seed=1).save(place / "large")


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
LIMITS = (120, 250, 500)
QUICK = {  # one shape and limit of every command
    ("describe", "tables", 250),
    ("convert", "tables", 250),
    ("plan", "matrices", 250),
    ("embed", "saved", 250),
    ("embed on disk", "saved", 120),
    ("embed reduced", "wide", 500),
    ("embed auto", "saved", 500),
    ("embed and keep", "saved", 250),
    ("update", "saved", 250),
    ("update of much", "saved", 250),
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
    for limit in (*LIMITS, *((700,) if command in ("report", "explore", "report of a graph") else ()))
    if not (shape == "bare" and command in NEED_FEATURES)
]


@pytest.mark.parametrize(
    ("command", "shape", "megabytes"),
    [pytest.param(*case, marks=[] if case in QUICK else pytest.mark.slow) for case in ALL],
)
def test_limits_are_kept(place, tmp_path, command, shape, megabytes):
    keep_limit(place, tmp_path, command, SHAPES[shape], megabytes)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["embed auto", "cluster"])
def test_limits_are_kept_by_choices_for_60_000_nodes(place, large, tmp_path, command):
    keep_limit(place, tmp_path, command, ["large"], 500)


def keep_limit(place, tmp_path, command, source, megabytes):
    """Run a command and compare the memory that it took with its limit."""
    words = []
    for word in [*COMMANDS[command], "--memory-limit", f"{megabytes}MB"]:
        words += source if word == "INPUT" else [word]
    if "MODEL" in words:  # it is changed
        words[words.index("MODEL")] = str(shutil.copytree(place / "model", tmp_path / "model"))
    words = [str(tmp_path / word.replace("OUT", "z")) if word.startswith("OUT") else word for word in words]
    code, shown, peak = peak_anonymous(words, cwd=place)
    print(f"{command} {source}: {peak / 1e6:.0f} MB of {megabytes} MB, exit code {code}")
    assert code in (0, 2), shown
    if code == 2:
        assert "memory" in shown.lower(), shown
    assert peak <= megabytes * 10**6, f"{peak / 1e6:.0f} MB anonymous, limit {megabytes} MB: {shown[-300:]}"
