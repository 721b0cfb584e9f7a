"""Text tables with thousands of columns."""

import pytest

from nafs import read_graph
from nafs._support.errors import InputError


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
