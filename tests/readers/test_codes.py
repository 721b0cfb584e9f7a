"""Digits with leading zeros, such as postcodes and padded ids, are never read as numbers."""

import numpy as np
import pandas as pd
import pytest

from nafs import InputError, embed, from_edges, read_graph
from nafs.cli.main import main
from nafs.readers.tables import LOOKED_AT

pytest.importorskip("skrub")

N = 40


def users(**columns):
    ids = [f"{i:03d}" for i in range(N)]
    return pd.DataFrame({"user": ids, **columns})


def ring(ids):
    return pd.DataFrame({"source": ids, "target": np.roll(ids, 1)})


def read_all(tmp_path, edges, nodes):
    """The graph from CSV, from Parquet, from both, and from frames."""
    for name, frame in (("e", edges), ("n", nodes)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frame.to_parquet(tmp_path / f"{name}.parquet", index=False)
    kinds = [(a, b) for a in ("csv", "parquet") for b in ("csv", "parquet")]
    return [
        *(read_graph(tmp_path / f"e.{a}", tmp_path / f"n.{b}") for a, b in kinds),
        from_edges(edges, nodes),
    ]


def test_postcodes_are_categories(tmp_path):
    nodes = users(zip=["01067", "80331", "10115", "04109"] * (N // 4), age=np.arange(N) % 9)
    for graph in read_all(tmp_path, ring(nodes.user), nodes):
        assert graph.feature_names == ("zip: 01067", "zip: 04109", "zip: 10115", "zip: 80331", "age")
        assert "id = 'user', 5 features ('zip: 01067'" in graph.notes[0]
        assert any("zip: category, one column for each of 4 values" in note for note in graph.notes)


def test_codes_with_gaps_or_a_few_letters_are_categories(tmp_path):
    gaps = users(zip=["01067", None, "10115", "N/A"] * (N // 4))
    letters = users(zip=["01067", "80331", "10115", "1011AB"] * (N // 4))
    for nodes in (gaps, letters):
        for graph in read_all(tmp_path, ring(nodes.user), nodes):
            assert "zip: 01067" in graph.feature_names


def test_digits_without_leading_zeros_are_numbers_in_text_too(tmp_path):
    nodes = users(count=["7", "0", "10", "100"] * (N // 4))
    for graph in read_all(tmp_path, ring(nodes.user), nodes):
        assert graph.feature_names == ("count",)
        assert graph.features.toarray()[:4].ravel().tolist() == [7, 0, 10, 100]


def test_a_leading_zero_in_any_row_counts(tmp_path):
    n = LOOKED_AT + 100
    zips = ["80331", "10115"] * (n // 2)
    zips[-3:] = ["01067"] * 3
    nodes = pd.DataFrame({"user": [f"u{i}" for i in range(n)], "zip": zips, "age": np.arange(n) % 9})
    for graph in read_all(tmp_path, ring(nodes.user), nodes):
        assert graph.feature_names == ("zip: 80331", "zip: 10115", "zip: 01067", "age")


@pytest.mark.parametrize("gap", [None, "N/A"])
def test_a_gap_is_filled_in_whatever_row_it_is(tmp_path, gap):
    n = LOOKED_AT + 100
    ages = [str(i % 9) for i in range(n)]
    ages[-1] = gap
    nodes = pd.DataFrame({"user": [f"u{i}" for i in range(n)], "age": ages})
    for graph in read_all(tmp_path, ring(nodes.user), nodes):
        assert graph.feature_names == ("age",)
        assert graph.features.toarray()[-1] == 0


def test_a_word_among_numbers_is_named_with_its_line(tmp_path):
    n = LOOKED_AT + 100
    ages = [str(i % 9) for i in range(n)]
    ages[-1] = "old"
    nodes = pd.DataFrame({"user": [f"u{i}" for i in range(n)], "age": ages})
    nodes.to_csv(tmp_path / "n.csv", index=False)
    ring(nodes.user).to_csv(tmp_path / "e.csv", index=False)
    with pytest.raises(InputError, match=f"line {n + 1}.*'old'"):
        read_graph(tmp_path / "e.csv", tmp_path / "n.csv")


def test_padded_ids_stay_as_they_are_written(tmp_path):
    nodes = users(age=np.arange(N) % 9)
    for graph in read_all(tmp_path, ring(nodes.user), nodes):
        assert graph.ids[7] == "007"
        assert embed(graph, n_hops=1).rows("007").tolist() == [7]


def test_ids_that_lost_their_zeros_are_named(tmp_path):
    for ids in (N, 3 * N):  # the tables agree in no id, and in those of three digits
        nodes = pd.DataFrame({"user": [f"{i:03d}" for i in range(ids)], "age": np.arange(ids) % 9})
        plain = nodes.assign(user=nodes.user.astype(int))
        with pytest.raises(InputError, match="differ in leading zeros only: write the ids alike"):
            from_edges(ring(nodes.user), plain, id_column="user")


def test_one_padded_end_makes_all_ids_text(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n1,007\n2,1\n")
    assert read_graph(tmp_path / "e.csv").ids.tolist() == ["1", "007", "2"]


def test_padded_ids_survive_files_and_updates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nodes = users(zip=["01067", "80331"] * (N // 2))
    nodes.to_csv("n.csv", index=False)
    ring(nodes.user).to_csv("e.csv", index=False)
    (tmp_path / "new.csv").write_text("source,target\n100,7\n")
    (tmp_path / "rows.csv").write_text("user,zip\n100,01067\n7,80331\n")
    for words in (
        "embed e.csv -f n.csv -o z.csv --hops 2 --keep model -q",
        "update model --edges new.csv -f rows.csv -o z2.csv -q",
    ):
        with pytest.raises(SystemExit) as stop:
            main(words.split())
        assert stop.value.code == 0
    ids = pd.read_csv("z2.csv", dtype={"id": str}).id
    assert {"007", "7", "100"} <= set(ids)
    assert len(ids) == N + 2


def test_numbers_that_may_be_codes_are_named_in_one_note(tmp_path):
    rng = np.random.default_rng(0)
    n = 300
    columns = {
        "department": rng.integers(1, 10, n),
        "zip": rng.choice(rng.integers(10_000, 90_000, 60), n),
        "age": rng.integers(18, 90, n),
        "year": rng.integers(2015, 2021, n),
        "active": rng.integers(0, 2, n),
        "size": rng.random(n).round(1),
        "change": rng.integers(-3, 4, n),
    }
    nodes = pd.DataFrame({"user": [f"u{i}" for i in range(n)], **columns})
    words = nodes.assign(city=["Berlin", "Paris", "Rome"] * (n // 3))  # numbers are encoded then
    for table in (nodes, words):
        for graph in read_all(tmp_path, ring(nodes.user), table):
            (note,) = (note for note in graph.notes if "--category" in note)
            assert note.split(": ", 1)[1] == (
                "whole numbers that repeat are read as numbers ('department', 'zip'); if they are codes, say "
                "so with --category department,zip (category=['department', 'zip'] in Python)"
            )
        graph = from_edges(ring(nodes.user), table, category=["department", "zip"])
        assert not any("--category" in note for note in graph.notes)


def test_many_columns_of_counts_are_not_called_codes(tmp_path):
    counts = {f"word{i}": np.random.default_rng(i).integers(0, 4, N) for i in range(40)}
    for graph in read_all(tmp_path, ring(users().user), users(**counts)):
        assert not any("--category" in note for note in graph.notes)
