"""The id column of a table: why there is none."""

import pandas as pd
import pytest

from nafs import from_edges, read_graph
from nafs._support.errors import InputError

EDGES = ([11, 12, 13, 14], [12, 13, 14, 11])
REPEATED = r"column 'customer' holds ids of the edges, but not each once: id 12 .*\(rows 2 and 5\)"


def test_repeated_ids_are_named(tmp_path):
    frame = pd.DataFrame({"customer": [11, 12, 13, 14, 12], "size": [2.5, 3.0, 4.0, 5.0, 3.0]})
    with pytest.raises(InputError, match=REPEATED):
        from_edges(EDGES, frame)
    frame.to_csv(tmp_path / "n.csv", index=False)
    pd.DataFrame(EDGES, index=["source", "target"]).T.to_csv(tmp_path / "e.csv", index=False)
    for tables in ({"features": tmp_path / "n.csv"}, {"labels": tmp_path / "n.csv"}):
        with pytest.raises(InputError, match=REPEATED):
            read_graph(tmp_path / "e.csv", **tables)


def test_other_repeated_numbers_are_no_ids():
    frame = pd.DataFrame({"age": [11, 12, 12, 12, 11, 11], "size": [2.5, 3.0, 4.0, 5.0, 3.0, 1.0]})
    with pytest.raises(InputError, match="no column"):
        from_edges(EDGES, frame)


def test_swapped_frames_are_spotted():
    edges = pd.DataFrame(EDGES, index=["source", "target"]).T
    nodes = pd.DataFrame({"customer": [11, 12, 13, 14], "size": [2.5, 3.0, 4.0, 5.0]})
    with pytest.raises(InputError, match=r"are the edges and the nodes swapped\?"):
        from_edges(nodes, edges)


def test_folders_and_tables_without_rows(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "n.csv").write_text(",customer,size\n")
    with pytest.raises(InputError, match="the table has no rows below its first line"):
        read_graph(tmp_path / "e.csv", tmp_path / "n.csv")
    with pytest.raises(InputError, match="is a folder, not a table"):
        read_graph(tmp_path / "e.csv", tmp_path)


@pytest.mark.parametrize("column", ["customer", "id"])
@pytest.mark.parametrize("gap", [None, " "])
def test_a_missing_id_is_named_with_its_place(tmp_path, column, gap):
    """Also if only its values would have shown that the column holds the ids."""
    frame = pd.DataFrame({column: ["a", "b", gap, "d"], "size": [2.5, 3.0, 4.0, 5.0]})
    edges = pd.DataFrame({"source": list("abcd"), "target": list("bcda")})
    missing = "is missing; fill it in, or delete the row"
    with pytest.raises(InputError, match=f"nodes: column '{column}': the id in row 3 {missing}"):
        from_edges(edges, frame)
    edges.to_csv(tmp_path / "e.csv", index=False)
    frame.to_csv(tmp_path / "n.csv", index=False)
    with pytest.raises(InputError, match=f"n.csv, line 4: the id in column '{column}' {missing}"):
        read_graph(tmp_path / "e.csv", tmp_path / "n.csv")
    with pytest.raises(InputError, match=f"n.csv, line 4: the id in column '{column}' {missing}"):
        read_graph(tmp_path / "e.csv", labels=tmp_path / "n.csv")
    frame.to_parquet(tmp_path / "n.parquet", index=False)
    with pytest.raises(InputError, match=f"n.parquet: column '{column}': the id in row 3 {missing}"):
        read_graph(tmp_path / "e.csv", tmp_path / "n.parquet")
