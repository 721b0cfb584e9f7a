"""Input that is odd, damaged or hostile: nothing is lost or guessed in silence, nothing crashes."""

import io
import os
import subprocess
import sys
import threading
import zipfile

import numpy as np
import numpy.ma
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from nafs import Graph, from_edges, from_pyg, read_graph
from nafs._support.errors import InputError
from nafs.readers.matrices import read_matrix
from nafs.writers import write_graph, write_nodes


class TestPipes:
    def through_fifo(self, tmp_path, content):
        path = tmp_path / "fifo"
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
        return path

    def test_edges(self, tmp_path):
        rows = "".join(f"a{i},b{i % 977}\n" for i in range(50_000))
        graph = read_graph(self.through_fifo(tmp_path, f"source,target\n{rows}".encode()))
        assert graph.n_edges == 50_000

    def test_features_in_parquet(self, tmp_path):
        (tmp_path / "e.csv").write_text("a,b\nb,c\n")
        content = io.BytesIO()
        pa.parquet.write_table(pa.table({"id": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]}), content)
        graph = read_graph(tmp_path / "e.csv", self.through_fifo(tmp_path, content.getvalue()))
        assert graph.features.dense.ravel().tolist() == [1, 2, 3]

    def test_errors_name_the_pipe(self, tmp_path):
        with pytest.raises(InputError, match=r"fifo, line 2: 1 column"):
            read_graph(self.through_fifo(tmp_path, b"a,b\nc\n"))

    def test_devices_are_refused(self):
        with pytest.raises(InputError, match="/dev/zero is a device"):
            read_graph("/dev/zero")


class TestShards:
    def write(self, tmp_path, *tables):
        for i, table in enumerate(tables):
            pa.parquet.write_table(pa.table(table), tmp_path / f"s{i}.parquet")
        return tmp_path / "s*.parquet"

    def test_the_common_type_wins(self, tmp_path):
        path = self.write(
            tmp_path,
            {"source": ["a"], "target": ["b"], "weight": [1]},
            {"source": ["a"], "target": ["c"], "weight": [0.4]},
        )
        graph = read_graph(path)
        assert graph.n_edges == 2
        assert sorted(graph.adjacency.weights.tolist()) == pytest.approx([0.4, 0.4, 1, 1])

    def test_ids_are_not_rounded(self, tmp_path):
        path = self.write(tmp_path, {"source": [1], "target": [2]}, {"source": [1.7], "target": [2.0]})
        with pytest.raises(InputError, match=r"1\.7 is not a whole number"):
            read_graph(path)
        path = self.write(tmp_path, {"source": [1], "target": [2]}, {"source": ["x"], "target": ["1"]})
        assert read_graph(path).ids.tolist() == ["1", "2", "x"]

    def test_columns_only_in_later_files(self, tmp_path):
        path = self.write(
            tmp_path,
            {"source": ["a"], "target": ["b"]},
            {"source": ["b"], "target": ["c"], "weight": [2.0]},
        )
        with pytest.raises(InputError, match="weight is missing"):
            read_graph(path)
        assert read_graph(path, weight=False).n_edges == 2
        (tmp_path / "n").mkdir()
        nodes = self.write(
            tmp_path / "n", {"id": ["a"], "x": [1]}, {"id": ["b", "c"], "x": [1.7, 2], "y": [1, 2]}
        )
        gaps = read_graph(path, nodes, weight=False)
        assert any("y: number" in note and "missing" in note for note in gaps.notes)
        graph = read_graph(path, nodes, weight=False, ignore=["y"])
        assert graph.features.dense.ravel().tolist() == pytest.approx([1, 1.7, 2])


class TestComments:
    def test_signs_in_ids(self, tmp_path):
        path = tmp_path / "e.csv"
        path.write_text("source,target\n#tag,b\nb,%x\n")
        assert read_graph(path).ids.tolist() == ["#tag", "b", "%x"]
        assert read_graph(path, delimiter=",", header=True).n_edges == 2
        path.write_text("# made by hand\nx,y#1\n#z,x\n")
        graph = read_graph(path)
        assert graph.ids.tolist() == ["x", "y#1", "#z"]
        assert any("1 line(s) skipped as comments" in note for note in graph.notes)

    def test_turned_off(self, tmp_path):
        path = tmp_path / "e.csv"
        path.write_text("#a,#b\n#b,#c\n")
        with pytest.raises(InputError, match=r"start with a comment sign.*comment=''"):
            read_graph(path)
        assert read_graph(path, comment="").ids.tolist() == ["#a", "#b", "#c"]

    def test_named(self, tmp_path):
        path = tmp_path / "e.csv"
        path.write_text('// top\na,b\n// between\nb,"c\n// inside"\nb,d//1\n')
        graph = read_graph(path, comment="//")
        assert graph.ids.tolist() == ["a", "b", "c\n// inside", "d//1"]
        assert any("2 line(s) skipped as comments" in note for note in graph.notes)


class TestArrays:
    def test_duplicates_do_not_overflow(self):
        A = sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(2, 2))
        assert Graph(A, directed=False).adjacency.weights.tolist() == [200, 200]
        assert Graph(np.ones((2, 2)), A).features.dense.tolist() == [[0, 200], [0, 0]]

    def test_masked_arrays_are_refused(self):
        masked = np.ma.masked_array([[0.0, 1.0], [1.0, 0.0]], mask=[[False, True], [False, False]])
        with pytest.raises(InputError, match="masked"):
            Graph(masked)
        with pytest.raises(InputError, match="masked"):
            Graph(np.array([[0, 1], [1, 0]]), masked)
        with pytest.raises(InputError, match="masked"):
            from_edges((np.ma.masked_array([1, 2], mask=[True, False]), [2, 3]))
        nothing = np.ma.masked_array([[0.0, 1.0], [1.0, 0.0]])
        assert Graph(nothing, nothing).n_edges == 1

    def test_fractions_in_an_edge_index_are_refused(self):
        class Data:
            edge_index = np.array([[0, 1.7], [1, 2]])
            x = None
            num_nodes = 3

        with pytest.raises(InputError, match="whole numbers"):
            from_pyg(Data)
        with pytest.raises(InputError, match="not a whole number"):
            from_edges(np.array([[0, 1.7], [1.0, 2.0]]))

    def test_dictionaries_of_keys(self):
        A = sp.dok_array((3, 3))
        A[0, 1] = A[1, 2] = 1
        assert Graph(A, directed=False).n_edges == 2
        assert Graph(A, sp.dok_array(np.eye(3)), directed=False).features.shape == (3, 3)

    def test_weights_too_small_for_float32_are_refused(self, tmp_path):
        A = sp.coo_array(([1e-50, 2.0], ([0, 1], [1, 0])), shape=(3, 3))
        with pytest.raises(InputError, match="1e-50"):
            Graph(A, directed=True)
        with pytest.raises(InputError, match="1e-50"):
            from_edges((["a"], ["b"], [1e-50]))
        smallest = float(np.finfo(np.float32).tiny)
        graph = from_edges((["a", "b"], ["b", "c"], [smallest, 1.5]))
        graph.save(tmp_path / "g")
        assert Graph.load(tmp_path / "g").adjacency.weights.min() == np.float32(smallest)


class TestBlanks:
    @pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".csv.gz"])
    def test_round_trip(self, tmp_path, ending):
        graph = from_edges(([" a", "b "], ["b ", "c  c"]), {"id": [" a", "b ", "c  c"], "x": [1.0, 2.0, 3.0]})
        write_graph(graph, tmp_path / f"e{ending}")
        write_nodes(graph, tmp_path / f"n{ending}")
        again = read_graph(tmp_path / f"e{ending}", tmp_path / f"n{ending}")
        assert again.ids.tolist() == [" a", "b ", "c  c"]
        assert again.features.dense.tolist() == graph.features.dense.tolist()

    def test_the_same_id_with_and_without(self, tmp_path):
        rows = "".join(f"n{i},n{i + 1}\n" for i in range(400))
        (tmp_path / "e.csv").write_text(f"{rows}n3 ,n5\n")
        with pytest.raises(InputError, match="'n3 ' and 'n3' differ only by blanks"):
            read_graph(tmp_path / "e.csv")


def mtx(tmp_path, text):
    path = tmp_path / "m.mtx"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


HEADER = "%%MatrixMarket matrix coordinate real general\n"


class TestMatrices:
    @pytest.mark.parametrize(
        "text",
        [
            HEADER + "2000000000 2000000000 1\n1 2 1\n",
            HEADER + "3 3 999999999999\n1 2 1\n",
            HEADER + "99999999999999999999999 3 1\n1 2 1\n",
            HEADER.encode() + b"3 3 1\n1 2\0 1\n",
            HEADER.encode() + b"3 3 1\n1 2 1\n\0",
            HEADER + "3 3 2\n1 2 1\n",
            HEADER + "3 3 1\n1 4 1\n",
            HEADER + "3 3 1\n0 1 1\n",
            HEADER + "3 3 1\n1 2 x\n",
            HEADER + "3 3 1\n1 2 1\n2 3 1\n",
            HEADER + "3 3 1\n1 2\n",
            HEADER + "-3 3 1\n1 2 1\n",
            HEADER + "3 3 1\n1.5 2 1\n",
            "%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 2 1 0\n",
            "%%MatrixMarket matrix array real general\n1000000 1000000\n1\n",
            "%%MatrixMarket vector coordinate real general\n3 3 1\n1 2 1\n",
            "no matrix\n",
            "",
            HEADER,
        ],
    )
    def test_damaged_matrix_market_is_refused(self, tmp_path, text):
        with pytest.raises(InputError, match=r"m\.mtx"):
            read_graph(mtx(tmp_path, text))

    @pytest.mark.parametrize(
        ("text", "dense"),
        [
            (HEADER + "% a comment\n\n2 3 2\n1 2 1.5\n2 3 -2e1\n", [[0, 1.5, 0], [0, 0, -20]]),
            (
                "%%MatrixMarket MATRIX Coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n",
                [[0, 1, 0], [1, 0, 0], [0, 0, 1]],
            ),
            ("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n", [[0, -3], [3, 0]]),
            ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", [[1, 3], [2, 4]]),
            ("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n4\n", [[1, 2], [2, 4]]),
            (HEADER + "2 2 2\n1 2 1\n1 2 1\n", [[0, 2], [0, 0]]),
        ],
    )
    def test_matrix_market(self, tmp_path, text, dense):
        import gzip

        found = read_matrix(mtx(tmp_path, text))
        found = found.toarray() if sp.issparse(found) else np.asarray(found)
        assert found.tolist() == dense
        (tmp_path / "g.mtx.gz").write_bytes(gzip.compress(text.encode()))
        found = read_matrix(str(tmp_path / "g.mtx.gz"))
        found = found.toarray() if sp.issparse(found) else np.asarray(found)
        assert found.tolist() == dense

    def npz(self, path, packed=False, **members):
        kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", kind) as archive:
            for name, content in members.items():
                if isinstance(content, bytes):
                    archive.writestr(f"{name}.npy", content)
                else:
                    file = io.BytesIO()
                    np.save(file, content)
                    archive.writestr(f"{name}.npy", file.getvalue())

    def header(self, text):
        body = text.encode() + b" " * (118 - len(text)) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body

    def test_huge_shapes_are_refused_at_once(self, tmp_path):
        path = tmp_path / "m.npz"
        claims = self.header("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }")
        self.npz(
            path,
            data=claims,
            indices=np.zeros(1, int),
            indptr=np.zeros(2, int),
            format=np.array(b"csr"),
            shape=np.array([1, 1]),
        )
        with pytest.raises(InputError, match=r"m\.npz"):
            read_graph(path)
        (tmp_path / "m.npy").write_bytes(claims)
        with pytest.raises(InputError, match=r"m\.npy"):
            read_graph(tmp_path / "m.npy")
        self.npz(
            path,
            data=np.zeros(0),
            indices=np.zeros(0, int),
            indptr=np.zeros(1, int),
            format=np.array(b"csr"),
            shape=np.array([2_000_000_000, 2_000_000_000]),
        )
        with pytest.raises(InputError, match=r"m\.npz"):
            read_graph(path)
        self.npz(
            path,
            row=np.zeros(0, int),
            col=np.zeros(0, int),
            data=np.zeros(0),
            format=np.array(b"coo"),
            shape=np.array([2_000_000_000, 2_000_000_000]),
        )
        with pytest.raises(InputError, match=r"m\.npz"):
            read_graph(path)

    def test_bombs_are_refused(self, tmp_path):
        path = tmp_path / "m.npz"
        self.npz(path, packed=True, x=np.zeros((20_000, 20_000), np.int8))
        assert path.stat().st_size < 1 << 20
        with pytest.raises(InputError, match="unpack"):
            read_graph(path, memory_limit="200MB")
        with pytest.raises(InputError, match="unpack"):
            read_graph(path)

    @pytest.mark.parametrize(
        "text",
        [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,",
            "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
            "\x00\x01(",
            "((((",
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        ],
    )
    def test_damaged_headers(self, tmp_path, text):
        (tmp_path / "m.npy").write_bytes(self.header(text) + b"\0" * 8)
        with pytest.raises(InputError, match=r"m\.npy"):
            read_graph(tmp_path / "m.npy")
        self.npz(tmp_path / "m.npz", x=self.header(text) + b"\0" * 8)
        with pytest.raises(InputError, match=r"m\.npz"):
            read_graph(tmp_path / "m.npz")


class TestDuckDB:
    def test_names_mean_local_files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name in ("~/e.csv", "s3:/e.csv", "http:/e.csv"):
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "w") as file:
                file.write("a,b\nb,c\n")
            assert read_graph(name).n_edges == 2
        for name in ("https://example.org/e.csv", "s3://bucket/e.parquet", "https://example.org/*.csv"):
            with pytest.raises(FileNotFoundError):
                read_graph(name)

    def test_no_extension_is_loaded(self):
        from nafs.readers.edges import duckdb_connection

        with duckdb_connection() as duck:
            settings = dict(
                duck.execute("SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%'").fetchall()
            )
        assert settings["autoinstall_known_extensions"] == "false"
        assert settings["autoload_known_extensions"] == "false"


class TestWideTables:
    @pytest.mark.parametrize("columns", [15_000, 100_000])
    def test_text(self, tmp_path, columns):
        (tmp_path / "e.csv").write_text("a,b\n")
        names = ",".join(f"f{i}" for i in range(columns))
        rows = [",".join(str((i * 7 + k) % 10 / 4) for i in range(columns)) for k in range(3)]
        lines = [f"id,{names}", *(f"{key},{row}" for key, row in zip("abc", rows, strict=True))]
        (tmp_path / "f.csv").write_text("\n".join(lines) + "\n")
        graph = read_graph(tmp_path / "e.csv", tmp_path / "f.csv")
        assert graph.features.shape == (3, columns)
        assert graph.features.dense[1, :3].tolist() == [0.25, 2.0, 1.25]
        assert graph.feature_names[-1] == f"f{columns - 1}"

    def test_errors_have_their_place(self, tmp_path):
        (tmp_path / "e.csv").write_text("a,b\n")
        columns = 5000
        names = ",".join(f"f{i}" for i in range(columns))
        good, short = ",".join(["1"] * columns), ",".join(["1"] * (columns - 1))
        for row, message in (
            (short, "line 3.*columns"),
            (f"{short},x", "line 3.*'x'.*'f4999'"),
            (f"{short},", "line 3.*'f4999'.*missing"),
        ):
            (tmp_path / "f.csv").write_text(f"id,{names}\na,{good}\nb,{row}\n")
            with pytest.raises(InputError, match=message):
                read_graph(tmp_path / "e.csv", tmp_path / "f.csv")


class TestErrors:
    @pytest.mark.parametrize("word", ["interrupt", "Query interrupted", "Out of Memory", "No space left"])
    def test_words_in_cells_and_names_mean_nothing(self, tmp_path, word):
        (tmp_path / "e.csv").write_text(f"source,target,weight\na,b,{word}\n")
        with pytest.raises(InputError, match=f"'{word}' in column 'weight' is not a number"):
            read_graph(tmp_path / "e.csv")
        path = tmp_path / f"{word}.parquet"
        path.write_bytes(b"PAR1 nothing PAR1")
        with pytest.raises(InputError, match="not a whole Parquet file"):
            read_graph(path)

    def test_empty_lists(self, tmp_path):
        (tmp_path / "e.csv").write_text("a,b\n")
        pa.parquet.write_table(
            pa.table({"id": ["a", "b"], "x": pa.array([[], []], pa.list_(pa.float64()))}),
            tmp_path / "f.parquet",
        )
        with pytest.raises(InputError, match="'x' differ in length or are empty"):
            read_graph(tmp_path / "e.csv", tmp_path / "f.parquet")

    def test_unknown_encodings_of_graphml(self, tmp_path):
        (tmp_path / "g.graphml").write_text('<?xml version="1.0" encoding="klingon"?><graphml/>')
        with pytest.raises(InputError, match="cannot be read as GraphML"):
            read_graph(tmp_path / "g.graphml")

    @pytest.mark.parametrize("limit", ["9" * 400 + "GB", 10**400, "1e9GB", float("inf")])
    def test_giant_limits(self, tmp_path, limit):
        (tmp_path / "e.csv").write_text("a,b\n")
        with pytest.raises(InputError, match="memory_limit"):
            read_graph(tmp_path / "e.csv", memory_limit=limit)


def test_ids_that_look_like_measurements(tmp_path):
    (tmp_path / "e.csv").write_text("0704.0001,0704.0002\n0704.0002,1205.3456\n")
    with pytest.raises(InputError, match="id_type='text'"):
        read_graph(tmp_path / "e.csv")
    graph = read_graph(tmp_path / "e.csv", id_type="text")
    assert graph.ids.tolist() == ["0704.0001", "0704.0002", "1205.3456"]


def test_reading_hears_signals_while_it_waits_for_a_pipe(tmp_path):
    import signal
    import time

    os.mkfifo(tmp_path / "fifo")
    code = f"import nafs; print('ready', flush=True); nafs.read_graph({str(tmp_path / 'fifo')!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    process.stdout.readline()
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT


def test_frames_with_a_huge_index(tmp_path):
    nodes = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index([2**63 - 1, 1], name="user"))
    graph = from_edges(([2**63 - 1], [1]), nodes)
    assert graph.ids.tolist() == [2**63 - 1, 1]


class TestMagnitudes:
    def graph(self, weight, value):
        edges = (["a", "b", "c"], ["b", "c", "a"], [weight, weight, 2 * weight])
        return from_edges(
            edges, {"id": ["a", "b", "c"], "x": [value, -value, value / 3], "y": [1.0, 2.0, 3.0]}
        )

    @pytest.mark.parametrize("r", [0.0, 0.5, 1.0])
    def test_large_weights_and_features(self, r):
        from nafs import NAFS

        assert np.isfinite(NAFS(n_hops=3, r=(r,)).fit_transform(self.graph(1e6, 1e28))).all()
        if r == 1.0:
            with pytest.raises(InputError, match="together too large"):
                NAFS(n_hops=3, r=(r,)).fit_transform(self.graph(1e12, 1e28))
        else:
            assert np.isfinite(NAFS(n_hops=3, r=(r,)).fit_transform(self.graph(1e12, 1e28))).all()

    @pytest.mark.parametrize("value", [3e38, np.inf, np.nan])
    def test_saved_features_that_are_damaged(self, tmp_path, value):
        from nafs import NAFS

        self.graph(2.0, 1.0).save(tmp_path / "g")
        values = np.load(tmp_path / "g" / "features.npy")
        values[1, 0] = value
        np.save(tmp_path / "g" / "features.npy", values)
        with pytest.raises(InputError, match="features"):
            NAFS(n_hops=3).fit_transform(Graph.load(tmp_path / "g"))

    def test_inner_products_that_overflow(self):
        from nafs.similarity import nearest

        matrix = np.array([[1e20, 0], [1e20, 1], [0, 1e20]], np.float32)
        with pytest.raises(InputError, match="too large for inner products"):
            nearest(matrix, np.array([0]), 1, score="inner")
        assert nearest(matrix, np.array([0]), 1)[0].tolist() == [[1]]


@pytest.mark.parametrize("hops", ["NaN", "10000000", "-1", '"many"', "1e3"])
def test_hostile_metadata_of_an_embedding(tmp_path, hops):
    from nafs.readers.vectors import read_embedding

    about = {b"nafs": b'{"n_hops": ' + hops.encode() + b"}"}
    table = pa.table({"id": ["a", "b"], "e0": [1.0, 2.0]}).replace_schema_metadata(about)
    pa.parquet.write_table(table, tmp_path / "z.parquet")
    with pytest.raises(InputError, match=r"z\.parquet: its metadata says n_hops"):
        read_embedding(tmp_path / "z.parquet")
    np.save(tmp_path / "y.npy", np.ones((2, 1)))
    (tmp_path / "y.ids.csv").write_text("id\na\nb\n")
    (tmp_path / "y.json").write_text('{"n_hops": ' + hops + "}")
    with pytest.raises(InputError, match="n_hops"):
        read_embedding(tmp_path / "y.npy")
