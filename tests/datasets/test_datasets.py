"""Published files are read, and malicious ones are not run."""

import gzip
import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from command import run

from nafs._support.errors import InputError
from nafs.datasets import CATALOG, contextual_sbm, erdos_renyi, load_dataset, load_planetoid, power_law
from nafs.datasets.graphdata import load_graphdata
from nafs.datasets.ogb import load_ogb
from nafs.datasets.pickles import as_matrix, as_neighbors, parse_pickle, read_pickle
from nafs.graph import read_adjacency


@pytest.mark.parametrize(
    ("name", "nodes", "features", "edges", "classes"),
    [
        ("cora", 2708, 1433, 5278, 7),
        ("citeseer", 3327, 3703, 4552, 6),
        ("pubmed", 19717, 500, 44324, 3),
    ],
)
def test_planetoid_counts(name, nodes, features, edges, classes, planetoid_home):
    X, A, labels = load_planetoid(name, planetoid_home)
    graph = read_adjacency(A)
    assert X.shape == (nodes, features)
    assert graph.n_stored == 2 * edges
    assert graph.weights is None
    assert len(set(labels[labels >= 0])) == classes
    assert (labels < 0).sum() == (15 if name == "citeseer" else 0)


class Malicious:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return (Path.touch, (self.target,))


def test_a_pickle_that_would_run_something_is_refused(tmp_path):
    target, file = tmp_path / "owned", tmp_path / "evil"
    file.write_bytes(pickle.dumps(Malicious(target)))
    with pytest.raises(InputError, match=r"evil: refused to load"):
        read_pickle(file)
    assert not target.exists()


def test_a_damaged_pickle_names_the_file(tmp_path):
    file = tmp_path / "cut"
    file.write_bytes(pickle.dumps([1, 2, 3])[:-3])
    with pytest.raises(InputError, match="cut"):
        read_pickle(file)


def test_hostile_pickles_crash_nothing_and_take_no_memory():
    # The memo of a real unpickler would get room for 400 million entries.
    assert parse_pickle(b"\x80\x02Nr\xff\xff\xff\x17.", "memo") is None
    with pytest.raises(InputError):
        parse_pickle(b"\x80\x02T\xff\xff\xff\x7fabc.", "string")
    # A type of objects over bytes: a real unpickler would follow them as pointers.
    array = np.frombuffer(b"A" * 16, np.int64)
    for fake in (b"O8", b"V8", b"S8", b"M8", b"c8"):
        hostile = pickle.dumps(array, protocol=2).replace(b"i8", fake)
        assert hostile != pickle.dumps(array, protocol=2)
        with pytest.raises(InputError):
            as_matrix(parse_pickle(hostile, "pointers"), "pointers")
    large = pickle.dumps(array, protocol=2).replace(b"K\x02\x85", b"J\xff\xff\xff\x7f\x85")
    with pytest.raises(InputError, match="bytes do not fit"):
        as_matrix(parse_pickle(large, "shape"), "shape")
    with pytest.raises(InputError, match="more instructions or tuples"):  # at once, not after all of it
        parse_pickle(b"\x80\x02)" + b"\x85" * 4_000_000 + b".", "nested")
    endless = b"\x80\x02]q\x00h\x00a."  # a list that holds itself
    with pytest.raises(InputError, match="expected"):
        as_matrix(parse_pickle(endless, "endless"), "endless")
    with pytest.raises(InputError, match="neighbours"):
        as_neighbors(parse_pickle(endless, "endless"), "endless")
    with pytest.raises(InputError, match="neighbour of node 0"):
        as_neighbors({0: [5], 1: [0]}, "graph")


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("kind", ["<i4", "<f8", ">f4", "|b1", "<u2", "<f2"])
def test_arrays_and_matrices_are_taken_apart(protocol, kind):
    values = np.array([[1, 0, 2], [0, 3, 0]], dtype=kind)
    for array in (values, np.asfortranarray(values), values[0]):
        back = as_matrix(parse_pickle(pickle.dumps(array, protocol), "array"), "array")
        np.testing.assert_array_equal(back, array)
        assert back.dtype == array.dtype
    if kind not in (">f4", "<f2"):
        matrix = sp.csr_matrix(values)
        back = as_matrix(parse_pickle(pickle.dumps(matrix, protocol), "matrix"), "matrix")
        np.testing.assert_array_equal(back.toarray(), values)


def test_damaged_matrices_are_refused():
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices = np.array([0, 1, 7], np.int32)
    with pytest.raises(InputError, match="column index 7"):
        as_matrix(parse_pickle(pickle.dumps(matrix, 2), "m"), "m")


def test_every_file_is_fetched_safely():
    for entry in CATALOG.values():
        assert all(file.url.startswith("https://") for file in entry.files)


def test_files_without_a_checksum_are_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("NAFS_DATA_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"flickr\.npz cannot be verified.*unverified=True"):
        load_dataset("flickr")
    assert run("datasets", "fetch", "flickr") == 2


PRESENT = ("cora", "citeseer", "pubmed", "wiki", "amazon-photo", "coauthor-cs", "acm")


@pytest.mark.parametrize("name", PRESENT)
def test_known_data_sets_have_the_known_counts(name, data_home):
    entry = CATALOG[name]
    missing = [file.path for file in entry.files if not (data_home / file.path).exists()]
    if missing:
        pytest.skip(f"{missing[0]} is not in the data folder")
    data = load_dataset(name)  # raises where counts or checksums differ
    graph = data.graph
    assert (graph.n_nodes, graph.features.shape[1], graph.n_edges, len(graph.labels.classes)) == (
        entry.nodes,
        entry.features,
        entry.edges,
        entry.classes,
    )
    if entry.layout == "planetoid":
        sizes = {part: len(nodes) for part, nodes in data.split.items()}
        assert sizes == {"train": 20 * entry.classes, "validation": 500, "test": 1000}
        assert graph.labels.known[np.concatenate(list(data.split.values()))].mean() > 0.99


def test_the_embedded_data_set_needs_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("NAFS_DATA_HOME", str(tmp_path))
    assert load_dataset("digits").graph.n_nodes == 1797


def test_names_that_nobody_knows():
    with pytest.raises(ValueError, match="unknown data set 'corra'; known ones are digits, cora"):
        load_dataset("corra")


def test_without_network_the_message_says_where_the_file_goes(monkeypatch, tmp_path):
    import pooch

    def offline(*_, **__):
        raise ConnectionError("no route to host")

    monkeypatch.setattr(pooch, "retrieve", offline)
    monkeypatch.setenv("NAFS_DATA_HOME", str(tmp_path))
    with pytest.raises(OSError, match=r"cannot download .*flickr\.npz .* put the file at .*flickr\.npz"):
        load_dataset("flickr", unverified=True)


def test_a_download_with_the_wrong_checksum_is_not_kept(monkeypatch, tmp_path):
    import pooch

    monkeypatch.setenv("NAFS_DATA_HOME", str(tmp_path / "home"))
    other = tmp_path / "wiki.mat"
    other.write_bytes(b"something else")
    real = pooch.retrieve

    def elsewhere(url, *arguments, **options):
        return real(other.as_uri(), *arguments, downloader=copy, **options)

    def copy(url, output_file, _):
        Path(output_file).write_bytes(other.read_bytes())

    monkeypatch.setattr(pooch, "retrieve", elsewhere)
    with pytest.raises(ValueError, match="not the published file"):
        load_dataset("wiki")
    assert not (tmp_path / "home" / "wiki" / "wiki.mat").exists()


def test_a_damaged_file_in_the_data_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("NAFS_DATA_HOME", str(tmp_path))
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki" / "wiki.mat").write_bytes(b"cut short")
    with pytest.raises(ValueError, match=r"wiki\.mat is damaged"):
        load_dataset("wiki")


# --- the layouts, on small archives made here ---------------------------------------------------------------


def pickled(value):
    """An .npy member that holds a pickled object, as GraphData's files do."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.array(value, dtype=object), allow_pickle=True)
    return file.getvalue()


def graphdata_file(path, attributes):
    labels = io.BytesIO()
    np.save(labels, np.array([0, 1, 1], np.int32))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "adj_matrix.npy", pickled(sp.csr_matrix(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])))
        )
        archive.writestr("node_attr.npy", pickled(attributes))
        archive.writestr("node_label.npy", labels.getvalue())


def test_the_graphdata_layout(tmp_path):
    graphdata_file(tmp_path / "g.npz", sp.csr_matrix(np.eye(3, 5)))
    features, adjacency, labels = load_graphdata(tmp_path / "g.npz")
    assert features.shape == (3, 5)
    assert adjacency.nnz == 2
    assert labels.tolist() == [0, 1, 1]


def test_arrays_in_fortran_order_and_cut_short(tmp_path):
    graphdata_file(tmp_path / "g.npz", sp.csr_matrix(np.eye(3, 5)))
    values = np.asfortranarray(np.arange(6).reshape(3, 2))
    file = io.BytesIO()
    np.save(file, values)
    for content, name in ((file.getvalue(), "f.npz"), (file.getvalue()[:-8], "s.npz")):
        with zipfile.ZipFile(tmp_path / "g.npz") as old, zipfile.ZipFile(tmp_path / name, "w") as new:
            for member in old.namelist():
                new.writestr(member, content if member == "node_attr.npy" else old.read(member))
    assert load_graphdata(tmp_path / "f.npz")[0].tolist() == values.tolist()
    with pytest.raises(ValueError, match=r"s\.npz: node_attr is cut short"):
        load_graphdata(tmp_path / "s.npz")


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path):
    ogb_file(tmp_path / "bomb.zip", edges="0,1\n" * 3_000_000)
    with pytest.raises(ValueError, match=r"bomb\.zip: edge\.csv\.gz unpacks to more than is plausible"):
        load_ogb(tmp_path / "bomb.zip")
    ogb_file(tmp_path / "odd.zip", edges="0.5,1\n")
    with pytest.raises(ValueError, match="pairs of whole numbers"):
        load_ogb(tmp_path / "odd.zip")


def test_a_malicious_archive_runs_nothing(tmp_path):
    target = tmp_path / "owned"
    graphdata_file(tmp_path / "evil.npz", Malicious(target))
    with pytest.raises(ValueError, match=r"evil\.npz: node_attr: refused to load"):
        load_graphdata(tmp_path / "evil.npz")
    assert not target.exists()
    (tmp_path / "cut.npz").write_bytes((tmp_path / "evil.npz").read_bytes()[:200])
    with pytest.raises(ValueError, match=r"cut\.npz is not a complete"):
        load_graphdata(tmp_path / "cut.npz")


def ogb_file(path, edges="0,1\n1,2\n", labels="3\n0\n3\n"):
    members = {
        "raw/num-node-list": "3\n",
        "raw/node-feat": "0.5,1\n-1,2\n0,0\n",
        "raw/node-label": labels,
        "raw/edge": edges,
        "split/time/train": "0\n",
        "split/time/valid": "1\n",
        "split/time/test": "2\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(f"arxiv/{name}.csv.gz", gzip.compress(text.encode()))


def test_the_ogb_layout(tmp_path):
    ogb_file(tmp_path / "arxiv.zip")
    features, adjacency, labels, split = load_ogb(tmp_path / "arxiv.zip")
    assert features.tolist() == [[0.5, 1], [-1, 2], [0, 0]]
    assert adjacency.toarray().tolist() == [[False, True, False], [False, False, True], [False] * 3]
    assert labels.tolist() == [3, 0, 3]
    assert {part: nodes.tolist() for part, nodes in split.items()} == {
        "train": [0],
        "validation": [1],
        "test": [2],
    }
    ogb_file(tmp_path / "bad.zip", edges="0,7\n")
    with pytest.raises(ValueError, match=r"bad\.zip does not fit together"):
        load_ogb(tmp_path / "bad.zip")
    (tmp_path / "cut.zip").write_bytes((tmp_path / "arxiv.zip").read_bytes()[:300])
    with pytest.raises(ValueError, match=r"cut\.zip is damaged"):
        load_ogb(tmp_path / "cut.zip")


# --- random graphs --------------------------------------------------------------------------------


def test_erdos_renyi_has_the_edges_that_chance_gives():
    counts = [erdos_renyi(400, 0.05, seed=seed).n_edges for seed in range(20)]
    expected, deviation = 0.05 * 400 * 399 / 2, np.sqrt(0.05 * 0.95 * 400 * 399 / 2)
    assert abs(np.mean(counts) - expected) < 4 * deviation / np.sqrt(20)
    degrees = np.diff(erdos_renyi(2000, 0.01, seed=0).adjacency.indptr)
    assert abs(degrees[:1000].mean() - degrees[1000:].mean()) < 1, "no pair is favoured"
    assert erdos_renyi(6, 1.0).n_edges == 15
    assert erdos_renyi(6, 0.0).n_edges == 0
    assert erdos_renyi(5, 0.5, n_features=3).features.shape == (5, 3)
    with pytest.raises(ValueError, match="p in"):
        erdos_renyi(5, 1.5)


@pytest.mark.parametrize("make", [contextual_sbm, power_law])
def test_planted_graphs_are_as_asked_for(make):
    graph = make(5000, average_degree=12, homophily=0.7, seed=3)
    description = graph.describe()
    assert 2 * description.edges / description.nodes == pytest.approx(12, rel=0.1)
    assert description.homophily == pytest.approx(0.7 + 0.3 * description.homophily_by_chance, abs=0.03)
    again = make(5000, average_degree=12, homophily=0.7, seed=3)
    np.testing.assert_array_equal(graph.adjacency.indices, again.adjacency.indices)
    np.testing.assert_array_equal(graph.features.dense, again.features.dense)
    other = make(5000, average_degree=12, homophily=0.7, seed=4)
    assert not np.array_equal(graph.features.dense, other.features.dense)
    with pytest.raises(ValueError, match="homophily must lie"):
        make(10, homophily=2)


def test_power_law_degrees_have_a_heavy_tail():
    degrees = np.diff(power_law(20_000, average_degree=10, seed=0).adjacency.indptr)
    even = np.diff(contextual_sbm(20_000, average_degree=10, seed=0).adjacency.indptr)
    assert degrees.max() > 10 * even.max()
    with pytest.raises(ValueError, match="exponent must be above 2"):
        power_law(10, exponent=2)


# --- the command --------------------------------------------------------------------------------


def test_datasets_on_the_command_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("NAFS_DATA_HOME", str(tmp_path))
    assert run("datasets", "list") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in CATALOG)
    assert run("datasets", "info", "digits", "--json") == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == 1797
    assert run("datasets", "info", "nonsense") == 2
    assert "known ones are" in capsys.readouterr().err
    assert run("datasets", "fetch", "digits", "-q") == 0
