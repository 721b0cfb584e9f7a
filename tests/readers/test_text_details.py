"""Comments, blanks and words in text tables: nothing is dropped or renamed silently."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from nafs import from_edges, read_graph
from nafs._support.errors import InputError
from nafs.writers import write_graph, write_nodes


class TestComments:
    def test_signs_in_ids(self, tmp_path):
        path = tmp_path / "e.csv"
        path.write_text("source,target\n#tag,b\nb,%x\n")
        assert read_graph(path).ids.tolist() == ["#tag", "b", "%x"]
        assert read_graph(path, delimiter=",", header=True).n_edges == 2
        path.write_text("# made by hand\nx,y#1\n#z,x\n")
        graph = read_graph(path)
        assert graph.ids.tolist() == ["x", "y#1", "#z"]
        assert any("1 line skipped as comments" in note for note in graph.notes)

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
        assert any("2 lines skipped as comments" in note for note in graph.notes)


class TestBlanks:
    @pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".csv.gz"])
    def test_round_trip(self, tmp_path, ending):
        graph = from_edges(([" a", "b "], ["b ", "c  c"]), {"id": [" a", "b ", "c  c"], "x": [1.0, 2.0, 3.0]})
        write_graph(graph, tmp_path / f"e{ending}")
        write_nodes(graph, tmp_path / f"n{ending}")
        again = read_graph(tmp_path / f"e{ending}", tmp_path / f"n{ending}")
        assert again.ids.tolist() == graph.ids.tolist() == ["a", "b", "c  c"]
        assert again.features.dense.tolist() == graph.features.dense.tolist()

    def test_blanks_beside_every_delimiter_are_mentioned(self, tmp_path):
        (tmp_path / "e.csv").write_text("source, target\na, b\nb, c\n")
        (tmp_path / "n.csv").write_text("id, x\na, 1\nb, 2\nc, 3\n")
        graph = read_graph(tmp_path / "e.csv", tmp_path / "n.csv")
        assert graph.ids.tolist() == ["a", "b", "c"]
        for name in ("e.csv", "n.csv"):
            assert f"{tmp_path / name}: blanks around values are ignored" in graph.notes

    def test_the_same_id_with_and_without(self, tmp_path):
        rows = "".join(f"n{i},n{i + 1}\n" for i in range(400))
        (tmp_path / "e.csv").write_text(f"{rows}n3 ,n5\n")
        frame = pd.read_csv(tmp_path / "e.csv", header=None, names=["source", "target"])
        frame.to_parquet(tmp_path / "e.parquet")
        for graph in (read_graph(tmp_path / "e.csv"), read_graph(tmp_path / "e.parquet"), from_edges(frame)):
            assert graph.n_nodes == 401
            assert any("blanks around 1 id are ignored, such as 'n3 '" in note for note in graph.notes)

    def test_an_id_of_blanks_is_missing(self, tmp_path):
        nodes = pd.DataFrame({"id": ["a", " ", "c"], "x": [1.0, 2.0, 3.0]})
        with pytest.raises(InputError, match="row 2 is missing"):
            from_edges((["a"], ["c"]), nodes)


def test_ids_that_look_like_measurements(tmp_path):
    (tmp_path / "e.csv").write_text("0704.0001,0704.0002\n0704.0002,1205.3456\n")
    with pytest.raises(InputError, match="id_type='text'"):
        read_graph(tmp_path / "e.csv")
    graph = read_graph(tmp_path / "e.csv", id_type="text")
    assert graph.ids.tolist() == ["0704.0001", "0704.0002", "1205.3456"]


class TestErrors:
    @pytest.mark.parametrize("word", ["interrupt", "Query interrupted", "Out of Memory", "No space left"])
    def test_words_in_cells_and_names_mean_nothing(self, tmp_path, word):
        (tmp_path / "e.csv").write_text(f"source,target,weight\na,b,{word}\n")
        with pytest.raises(InputError, match=f"'{word}' in column 'weight' is not a number"):
            read_graph(tmp_path / "e.csv")
        path = tmp_path / f"{word}.parquet"
        path.write_bytes(b"PAR1 nothing PAR1")
        with pytest.raises(InputError, match="damaged or incomplete Parquet file"):
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


def test_line_ends_that_are_not_all_alike(tmp_path):
    path = tmp_path / "e.csv"
    path.write_bytes(b"a,b\r\nx,y\r\ny,z\n")
    try:
        assert read_graph(path).n_edges == 2
    except InputError as error:
        assert "some end in CRLF and others in LF" in str(error)  # noqa: PT017 - some versions of DuckDB read it


def test_a_line_longer_than_any_buffer_is_refused(tmp_path):
    path = tmp_path / "e.csv"
    path.write_bytes(b"a,b\nb,c\n" + b"x" * (34 << 20))
    with pytest.raises(InputError, match="line 3: the line is too long"):
        read_graph(path)


def test_a_last_line_that_is_too_long_is_refused_where_the_first_lines_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr("nafs.readers.text._LONGEST_LINE", 1000)
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "a,b\n" * 300 + f"a,{'b' * 2000}")
    with pytest.raises(InputError, match="the last line is too long"):
        read_graph(path)
    path.write_text("source,target\n" + "a,b\n" * 300 + "b,c")
    assert read_graph(path).n_nodes == 3


class TestPerhapsAHeader:
    @pytest.fixture
    def files(self, tmp_path):
        (tmp_path / "e.csv").write_text("client,server\nana,bo\nbo,cy\ncy,ana\n")
        (tmp_path / "n.csv").write_text("name,size\nana,1\nbo,2\ncy,3\n")
        return tmp_path / "e.csv", tmp_path / "n.csv"

    def test_words_without_rows(self, files):
        with pytest.raises(InputError, match=r"first line \(client, server\) looks like column.*header=True"):
            read_graph(*files)
        assert read_graph(*files, header=True).n_nodes == 3
        with pytest.warns(UserWarning, match="no features"):
            graph = read_graph(*files, missing="zeros")
        assert any("--header" in note for note in graph.notes)
        assert any("--header" in note for note in read_graph(files[0]).notes)

    @pytest.mark.parametrize("first", ["borrower,lender", "root,leaf"])
    def test_words_above_codes_may_be_either(self, tmp_path, first):
        edges, nodes = tmp_path / "e.csv", tmp_path / "n.csv"
        edges.write_text("\n".join([first, *(f"P{i:03},P{i * 7 % 20:03}" for i in range(20))]))
        with pytest.raises(InputError, match=r"may name the columns.*header=True.*header=False"):
            read_graph(edges)
        assert read_graph(edges, header=True).n_nodes == 20
        assert read_graph(edges, header=False).n_nodes == 22
        nodes.write_text("\n".join(["id,size", *(f"{name},1" for name in [*first.split(","), "P000"])]))
        with pytest.warns(UserWarning, match="no features"):
            assert read_graph(edges, nodes, missing="zeros").n_nodes == 22

    def test_words_that_recur_far_below_are_an_edge(self, tmp_path):
        rows = [f"P{i:04},P{i * 7 % 900:04}" for i in range(900)]
        (tmp_path / "e.csv").write_text("\n".join(["ann,bob", *rows, "ann,P0003"]))
        graph = read_graph(tmp_path / "e.csv")
        assert graph.n_nodes == 902
        assert graph.n_edges == read_graph(tmp_path / "e.csv", header=False).n_edges

    @pytest.mark.parametrize("first", ["root,P001", "P000,leaf", "P005,P006"])
    def test_a_code_in_the_first_row_is_an_edge(self, tmp_path, first):
        rows = [f"P{i:03},P{i * 7 % 20:03}" for i in range(20)]
        (tmp_path / "e.csv").write_text("\n".join([first, *rows]))
        assert set(first.split(",")) <= set(read_graph(tmp_path / "e.csv").id_array.to_pylist())

    def test_words_above_words_are_an_edge(self, tmp_path):
        rows = ["carl,dora", "dora,emil", "emil,finn", "finn,gus", "gus,hal", "hal,carl"]
        (tmp_path / "e.csv").write_text("\n".join(["alice,bob", *rows]))
        assert read_graph(tmp_path / "e.csv").n_nodes == 8

    def test_others_without_rows_too(self, files):
        files[1].write_text("name,size\nana,1\nbo,2\n")
        with pytest.raises(InputError, match=r"3 of 5 nodes have no row.*missing='zeros'.*--header"):
            read_graph(*files)

    def test_words_with_rows_are_an_edge(self, files):
        files[1].write_text("name,size\nana,1\nbo,2\ncy,3\nclient,4\nserver,5\n")
        graph = read_graph(*files)
        assert graph.n_edges == 4
        assert not any("--header" in note for note in graph.notes)
