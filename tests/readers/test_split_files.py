"""Tables in several files: the type that holds all values wins, no column is lost."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from nafs import read_graph
from nafs._support.errors import InputError


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
