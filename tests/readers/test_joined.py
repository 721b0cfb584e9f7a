"""Answers beside the user's own columns: ids as in the graph, numbers as numbers, codes as written."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from nafs import from_edges, read_graph
from nafs._support.errors import InputError
from nafs.readers.joined import joined
from nafs.readers.tables import TableOptions
from nafs.writers.tables import write_table

NODES = """customer,revenue,employees,zip,version,plan
11,815.33,8.0,01067,1.9,"a,b"
12,6.5,85.0,80331,1.10,
13,N/A,,10115,1.2,c
"""


@pytest.fixture
def nodes(tmp_path):
    (tmp_path / "nodes.csv").write_text(NODES)
    return tmp_path / "nodes.csv"


def answers(ids):
    return pa.table({"id": ids, "cluster": [0, 1, 0, 1]})


def test_types_outside_text(nodes, tmp_path):
    table = joined(answers([11, 12, 13, 14]), nodes)
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds == {
        "customer": "int64",
        "revenue": "double",
        "employees": "double",
        "zip": "string",
        "version": "double",
        "plan": "string",
        "cluster": "int64",
    }
    assert table["revenue"].to_pylist() == [815.33, 6.5, None, None]
    write_table(tmp_path / "t.jsonl", "t.jsonl", 1, 7, lambda begin, end: table.slice(begin, end - begin))
    assert json.loads((tmp_path / "t.jsonl").read_text())["customer"] == 11


def test_text_keeps_numbers_as_written(nodes, tmp_path):
    table = joined(answers([11, 12, 13, 14]), nodes, TableOptions(), as_written=True)
    write_table(tmp_path / "t.csv", "t.csv", 4, 7, lambda begin, end: table.slice(begin, end - begin))
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[1] == '11,"815.33",8.0,"01067","1.9","a,b",0'
    assert lines[4] == "14,,,,,,1"


def test_ids_with_leading_zeros_stay_text(tmp_path):
    (tmp_path / "nodes.csv").write_text("id,size\n007,1.5\n8,2.0\n9,30\n10,\n")
    for as_written in (False, True):
        table = joined(answers(["007", "8", "9", "10"]), tmp_path / "nodes.csv", as_written=as_written)
        assert table["id"].to_pylist() == ["007", "8", "9", "10"]
        assert table["size"].to_pylist() == [1.5, 2.0, 30.0, None]


def test_an_index_keeps_its_empty_name(tmp_path):
    (tmp_path / "nodes.csv").write_text(",id,size\n0,a,1\n1,b,2\n2,c,3\n3,d,4\n")
    table = joined(answers(["a", "b", "c", "d"]), tmp_path / "nodes.csv")
    assert table.column_names == ["", "id", "size", "cluster"]


def test_an_index_that_pandas_read_again_is_left_aside(tmp_path):
    frame = pd.DataFrame({"Unnamed: 0": [0, 1, 2], "customer": [11, 12, 13], "size": [1.0, 2.0, 5.0]})
    frame.to_csv(tmp_path / "n.csv", index=False)
    frame.to_parquet(tmp_path / "n.parquet", index=False)
    (tmp_path / "e.csv").write_text("source,target\n11,12\n12,13\n")
    graphs = [read_graph(tmp_path / "e.csv", tmp_path / name) for name in ("n.csv", "n.parquet")]
    for graph in [*graphs, from_edges(([11, 12], [12, 13]), frame)]:
        assert graph.feature_names == ("size",)
        assert "not used: 'Unnamed: 0'" in graph.notes[0]


@pytest.fixture
def shuffled(tmp_path):
    """A frame whose index is what sorting or filtering left of row numbers."""
    (tmp_path / "e.csv").write_text("source,target\n11,12\n12,13\n")
    return pd.DataFrame({"customer": [13, 11, 12], "size": [5.0, 1.0, 2.0]}, index=[2, 0, 1])


def test_an_index_that_parquet_holds_is_not_repeated(shuffled, tmp_path):
    shuffled.to_parquet(tmp_path / "n.parquet")
    stored = pa.parquet.read_table(tmp_path / "n.parquet")
    assert "__index_level_0__" in stored.column_names
    pa.parquet.write_table(stored.replace_schema_metadata(None), tmp_path / "plain.parquet")
    for name in ("n.parquet", "plain.parquet"):  # with and without what pandas says about it
        graph = read_graph(tmp_path / "e.csv", tmp_path / name)
        assert graph.feature_names == ("size",)
        assert graph.notes[0].endswith("1 feature ('size'), not used: the index of pandas")
        table = joined(pa.table({"id": graph.id_array, "cluster": [0, 1, 0]}), tmp_path / name)
        assert table.column_names == ["customer", "size", "cluster"]


def test_levels_of_an_index_are_not_features(shuffled, tmp_path):
    levels = pd.concat({0: shuffled})
    levels.to_parquet(tmp_path / "n.parquet")
    edges = pd.DataFrame({"source": [11, 12], "target": [12, 13]})
    for graph in (read_graph(tmp_path / "e.csv", tmp_path / "n.parquet"), from_edges(edges, levels)):
        assert graph.feature_names == ("size",)
        assert graph.notes[0].endswith("not used: the index of pandas, level 2 of the index of pandas")


class TestLevels:
    """An index of pandas with several levels, of which one holds the ids."""

    def read(self, folder, ids, levels, **columns):
        """The graph from frames, from Parquet and from CSV."""
        edges = pd.DataFrame({"source": ids[:-1], "target": ids[1:]})
        frame = pd.DataFrame({"size": np.arange(len(ids)) + 0.5, **columns}, index=levels)
        edges.to_csv(folder / "edges.csv", index=False)
        frame.to_parquet(folder / "n.parquet")
        frame.to_csv(folder / "n.csv")
        yield from_edges(edges, frame)
        for name in ("n.parquet", "n.csv"):
            yield read_graph(folder / "edges.csv", folder / name)

    @pytest.mark.parametrize("ids", [["north", "south", "east"], [11, 12, 14], [0, 1, 2], [3, 1, 2]])
    @pytest.mark.parametrize("names", [(None, None), (None, "place")])
    def test_the_second_may_hold_them(self, tmp_path, ids, names):
        levels = pd.MultiIndex.from_arrays([["a", "a", "b"], ids], names=names)
        for graph in self.read(tmp_path, ids, levels):
            assert graph.ids.tolist() == ids
            assert graph.features.toarray().ravel().tolist() == [0.5, 1.5, 2.5]

    def test_a_feature_that_could_hold_them_too_is_an_error(self, tmp_path):
        ids = list(range(1, 41))
        levels = pd.MultiIndex.from_arrays([["a", "b"] * 20, ids])
        with pytest.raises(InputError, match=r"'age' and the index \('__index_level_1__'\) could each hold"):
            next(self.read(tmp_path, ids, levels, age=np.roll(ids, 3) + 10))

    def test_the_error_lists_all_levels(self, tmp_path):
        levels = pd.MultiIndex.from_arrays([["a", "a", "b"], [1, 2, 3]])
        frame = pd.DataFrame({"size": [5.0, 1.0, 2.0]}, index=levels)
        with pytest.raises(InputError, match="there are 'size', '__index_level_0__', '__index_level_1__'"):
            from_edges(([1, 2], [2, 3]), frame, id_column="index")


def test_an_index_that_holds_the_ids_is_kept(shuffled, tmp_path):
    shuffled.set_index("customer").rename_axis(None).to_parquet(tmp_path / "n.parquet")
    for id_column in ("__index_level_0__", "index"):
        graph = read_graph(tmp_path / "e.csv", tmp_path / "n.parquet", id_column=id_column)
        assert graph.ids.tolist() == [13, 11, 12]
        table = joined(pa.table({"id": graph.id_array, "cluster": [0, 1, 0]}), tmp_path / "n.parquet")
        assert table.column_names == ["size", "id", "cluster"]
