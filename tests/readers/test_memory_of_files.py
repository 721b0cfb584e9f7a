"""What a file takes in memory is known before it is read, and a command whose limit is too small refuses."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest
import scipy.sparse as sp
from command import run

from nafs._support.errors import MemoryLimitError
from nafs.datasets import power_law
from nafs.graph import read_adjacency
from nafs.readers import read_graph
from nafs.readers.size import table_bytes

N, M = 20_000, 1_500_000


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes")
    rng = np.random.default_rng(0)
    ends = rng.integers(0, N, (2, M))
    sp.save_npz(folder / "e.npz", sp.coo_array((np.ones(M, np.int8), tuple(ends)), shape=(N, N)).tocsr())
    (folder / "e.mtx").write_text(f"%%MatrixMarket matrix coordinate pattern general\n{N} {N} {M}\n")
    (folder / "e.graphml").write_text("<graphml>" + " " * 3_000_000 + "</graphml>")
    with gzip.open(folder / "e.graphml.gz", "wb") as file:
        file.write(b"<graphml>" + b" " * 3_000_000 + b"</graphml>")
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(1_280_000, dtype=np.float32)), 64)
    pyarrow.feather.write_feather(
        pa.table({"id": pa.array(range(20_000)), "embedding": vectors}),
        folder / "v.feather",
        compression="uncompressed",
    )
    pd.DataFrame({"source": np.zeros(2_000_000, int), "target": np.ones(2_000_000, int)}).to_parquet(
        folder / "same.parquet"
    )
    with gzip.open(folder / "same.csv.gz", "wt") as file:
        file.write("source,target\n" + "ann,bob\n" * 1_000_000)
    (folder / "small.csv").write_text("source,target\nann,bob\nbob,cy\n")
    power_law(60_000, average_degree=8, n_features=64, seed=1).save(folder / "saved")
    return folder


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("describe e.npz --memory-limit 120MB", "e.npz: reading it takes about"),
        ("describe e.mtx --memory-limit 110MB", "e.mtx: reading it takes about"),
        ("describe e.graphml --memory-limit 150MB", "e.graphml: reading it takes about"),
        ("describe e.graphml.gz --memory-limit 150MB", "e.graphml.gz: reading it takes about"),
        ("similar v.feather 5 --memory-limit 100MB", "v.feather: reading it takes about"),
        ("describe same.parquet --memory-limit 128MB", "reading tables takes 150 MB"),
        ("describe same.csv.gz --memory-limit 150MB", "reading tables takes 240 MB"),
        ("describe small.csv --memory-limit 120MB", "reading tables takes 150 MB"),
        ("describe small.csv --memory-limit 99MB", "Python and the libraries of a command take 100 MB"),
        ("cluster saved --memory-limit 160MB", "scikit-learn"),
        ("classify saved --hops 3 --memory-limit 160MB", "scikit-learn"),
        ("embed saved --hops auto -o z.npy --memory-limit 160MB", "scikit-learn"),
        ("suggest-links saved --hops 3 --memory-limit 160MB", "scikit-learn"),
        ("similar v.feather --all -o s.csv --memory-limit 160MB", "comparing all nodes takes"),
        (
            "suggest-links saved --hops 1 --score cosine --memory-limit 300MB",
            "looking for missing links takes",
        ),
        (
            "evaluate saved --task classification --hops 2 --ensemble concat --memory-limit 200MB",
            "clusters and classes of 60,000 nodes with 384 columns need",
        ),
        ("embed saved --hops 2 --engine disk -o z.npy --memory-limit 101MB", "the smallest limit that works"),
    ],
)
def test_commands_refuse_limits_that_they_cannot_keep(place, monkeypatch, capsys, words, reason):
    monkeypatch.chdir(place)
    monkeypatch.setattr("nafs._support.budget.resident", lambda _: 0)  # this process has pytest in it
    assert run(*words.split()) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert reason in error
    assert "--memory-limit" in error


def test_the_library_counts_only_what_a_call_takes(place):
    with pytest.raises(MemoryLimitError, match=r"e\.npz: reading it takes about 7"):
        read_graph(place / "e.npz", memory_limit="50MB")
    assert read_graph(place / "e.npz", memory_limit="120MB").n_nodes == N
    assert read_graph(place / "small.csv", memory_limit="1MB").n_nodes == 3


def test_tables_are_judged_by_what_is_in_them(place):
    most = 10**9
    assert table_bytes(str(place / "same.parquet"), most) >= 64 * 2_000_000
    assert table_bytes(str(place / "same.csv.gz"), most) >= 8 * 1_000_000
    assert table_bytes(str(place / "small.csv"), most) < 10_000


@pytest.mark.parametrize(("n", "m"), [(1, 0), (6, 0), (60, 40), (500, 300)])
@pytest.mark.parametrize("directed", [False, True])
def test_components_as_scipy_numbers_them(n, m, directed):
    rng = np.random.default_rng(n)
    ends = rng.integers(0, n, (2, m))
    graph = read_adjacency(
        sp.coo_array((np.ones(m), tuple(ends)), shape=(n, n)), directed=directed, self_loops=True
    )
    expected = sp.csgraph.connected_components(graph.to_scipy(), directed=False)[1]
    np.testing.assert_array_equal(graph.components, expected)
    assert graph.components.dtype == np.int32
