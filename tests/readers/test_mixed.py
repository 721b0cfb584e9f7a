"""Tables of words, categories, dates and gaps become features, and nothing is guessed silently."""

import numpy as np
import pandas as pd
import pytest

from nafs import InputError, embed, from_edges, read_graph
from nafs.datasets import example_table
from nafs.selection.preprocessing import judge

pytest.importorskip("skrub")


@pytest.fixture(scope="module")
def papers():
    return read_graph(example_table("citations"), example_table("papers"))


def test_a_table_of_mixed_columns_is_read_and_explained(papers):
    assert papers.n_nodes == 240
    line = next(note for note in papers.notes if "title: text" in note)
    for part in ("venue: category", "published: date", "pages: number", "open_access:"):
        assert part in line
    assert any(name.startswith("title: ") for name in papers.feature_names)
    assert judge(papers.features)[0] == "none", "they are scaled already"


def test_frames_and_files_give_the_same_features(papers):
    edges = pd.read_csv(example_table("citations"))
    nodes = pd.read_csv(example_table("papers"), dtype={"open_access": str})
    frame = from_edges(edges, nodes)
    assert frame.feature_names == papers.feature_names
    np.testing.assert_allclose(frame.features.toarray(), papers.features.toarray(), atol=1e-6)


def test_columns_can_be_forced_and_left_out():
    graph = read_graph(
        example_table("citations"), example_table("papers"), ignore=["author"], category=["pages"]
    )
    names = " ".join(graph.feature_names)
    assert "author" not in names
    assert "pages: 12" in names
    with pytest.raises(InputError, match="no column 'nope'"):
        read_graph(example_table("citations"), example_table("papers"), text=["nope"])


def test_text_helps_and_noise_does_not_hurt(papers):
    topics = dict(line.split(",") for line in example_table("all_topics").read_text().splitlines()[1:])
    truth = np.array([topics[key] for key in papers.ids])

    def nearest_share(graph):
        table = embed(graph, n_hops=3, preprocessing="auto").similar(None, k=5).to_pandas()
        neighbor_topics = table.neighbor.map(topics).to_numpy().reshape(-1, 5)
        return float((neighbor_topics == truth[:, None]).mean())

    only_text = read_graph(
        example_table("citations"),
        example_table("papers"),
        ignore=["venue", "published", "pages", "author", "open_access"],
    )
    assert nearest_share(papers) > nearest_share(only_text) - 0.02
    assert nearest_share(papers) > 0.85


def test_a_typing_error_among_numbers_is_refused():
    edges = (["a", "b", "c"], ["b", "c", "d"])
    nodes = pd.DataFrame({"id": list("abcd"), "size": ["1", "2", "3x", "4"]})
    with pytest.raises(InputError, match="'3x' in column 'size' is not a number, but most values are"):
        from_edges(edges, nodes)
    with pytest.raises(InputError, match=r"its columns give no features \(size: category"):
        from_edges(edges, nodes, category=["size"])  # every value is different


def test_a_saved_graph_is_not_scaled_again(papers, tmp_path):
    papers.save(tmp_path / "graph")
    back = read_graph(tmp_path / "graph")
    assert judge(back.features)[0] == "none"
    np.testing.assert_array_equal(back.features.toarray(), papers.features.toarray())


def test_usual_signs_of_a_missing_number_are_read_as_missing():
    edges = (list("abcde"), list("bcdef"))
    nodes = pd.DataFrame({"id": list("abcdef"), "spend": ["1", "N/A", "3", "-", "5", "null"]})
    graph = from_edges(edges, nodes)
    assert any("spend: number" in note for note in graph.notes)
    assert any("no column fits the edges better than chance" in note for note in graph.notes)


def test_new_rows_are_encoded_alike(papers):
    import pyarrow.csv

    encoding = papers.features.encoding
    rows = pyarrow.csv.read_csv(example_table("papers"))
    again = encoding.encode(rows.slice(0, 10)).toarray()
    np.testing.assert_allclose(again, papers.features.toarray()[:10], atol=1e-6)
    new = encoding.encode(pyarrow.csv.read_csv(example_table("new_papers")))
    assert new.shape == (6, papers.features.shape[1])


def test_years_and_truth_values_in_text_are_numbers_as_in_frames(tmp_path):
    edges = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "d"]})
    nodes = pd.DataFrame(
        {
            "id": list("abcd"),
            "year": [1999, 2004, 2010, 2021],
            "open": [True, False, True, True],
            "job": "xyxy",
        }
    ).assign(job=["x", "y", "x", "y"])
    edges.to_csv(tmp_path / "edges.csv", index=False)
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    frame, file = from_edges(edges, nodes), read_graph(tmp_path / "edges.csv", tmp_path / "nodes.csv")
    assert frame.feature_names == file.feature_names == ("year", "open", "job: x", "job: y")
    np.testing.assert_allclose(frame.features.toarray(), file.features.toarray(), atol=1e-6)


def test_dates_in_two_formats_are_refused():
    edges = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "d"]})
    nodes = pd.DataFrame({"id": list("abcd"), "since": ["2020-02-11", "10/01/2020"] * 2})
    with pytest.raises(InputError, match=r"since.*one format.*'2020-02-11', '10/01/2020'.*ignore.*category"):
        from_edges(edges, nodes)
    assert len(from_edges(edges, nodes, category=["since"]).feature_names) == 2
    nodes["age"] = [1, 2, 3, 4]
    graph = from_edges(edges, nodes, ignore=["since"])
    assert graph.feature_names == ("age",)
    assert "not used: 'since'" in graph.notes[0]
    with pytest.raises(InputError, match="no column 'sinc'"):
        from_edges(edges, nodes, ignore=["sinc"])


def test_all_columns_with_errors_are_named_at_once():
    edges = (["a", "b"], ["b", "c"])
    nodes = {"id": ["a", "b", "c"], "price": ["815,33", "-12,5", "7"], "share": ["1,5", "2,5", "3,5"]}
    dates = {"since": ["2024-01-05", "05.01.2024", "Jan 5, 2024"]}
    with pytest.raises(InputError, match=r"'price' holds numbers.*; 1 more column has an error: 'share'$"):
        from_edges(edges, nodes)
    with pytest.raises(InputError, match=r"'price' holds.*; 2 more columns have errors: 'share', ''$"):
        from_edges(edges, nodes | dates | {"": ["1,5", "2,5", "3,5"]})
    with pytest.raises(InputError, match=r"'tags' holds list"):
        from_edges(
            edges,
            {**nodes, "price": ["a", "b", "a"], "share": [1, 2, None], "tags": [[1], [2], [3]]},
            category=["tags"],
        )
    with pytest.raises(InputError, match=r"'since' holds dates that do not share one format.*category$"):
        from_edges(edges, nodes | dates, ignore=["price", "share"])


def test_versions_are_no_dates():
    edges = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "d"]})
    nodes = pd.DataFrame({"id": list("abcd"), "version": ["1.2.30", "2.0.1", "1.2.30", "3.11.4"]})
    assert from_edges(edges, nodes).feature_names[0].startswith("version: ")


@pytest.mark.parametrize("values", [["815,33", "-12,5", "7"], ["1.234,5", "12,5", ""]])
def test_decimal_commas_are_refused(values):
    nodes = {"id": ["a", "b", "c"], "Umsatz": values, "size": [1, 2, 3]}
    edges = (["a", "b"], ["b", "c"])
    with pytest.raises(
        InputError, match=r"column 'Umsatz' holds numbers with commas, such as.*decimal point"
    ):
        from_edges(edges, nodes)
    assert from_edges(edges, nodes, ignore=["Umsatz"]).feature_names == ("size",)
    words = {**nodes, "Umsatz": ["a,b", "1,2", "c"]}
    assert from_edges(edges, words).n_nodes == 3
