"""Tables as companies keep them: answers hidden among the features, and values that mean something else."""

import numpy as np
import pandas as pd
import pytest

from nafs import InputError, embed, from_edges, read_graph

N = 120
IDS = [f"{i:05d}" for i in range(N)]
RING = pd.DataFrame({"sender": IDS, "receiver": np.roll(IDS, 1)})
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {"customer": IDS, "age": RNG.integers(20, 60, N), "city": RNG.choice(["Bonn", "Ulm"], N)}
)
STATUS = np.where(np.arange(N) < 80, RNG.choice(["good", "bad"], N), None)


def both_ways(folder, nodes, labels, **options):
    """The graph from frames, and the graph from files."""
    yield from_edges(RING, nodes, labels=labels, **options)
    for name, frame in (("e", RING), ("n", nodes), ("l", labels)):
        frame.to_csv(folder / f"{name}.csv", index=False)
    yield read_graph(folder / "e.csv", folder / "n.csv", folder / "l.csv", **options)


class TestLabelsAmongTheFeatures:
    @pytest.mark.parametrize("called", ["status", "Status", "outcome"])
    def test_are_not_used(self, tmp_path, called):
        labels = pd.DataFrame({"customer": IDS, called: STATUS}).dropna()
        for graph in both_ways(tmp_path, PEOPLE.assign(status=STATUS), labels):
            assert not any("status" in name for name in graph.feature_names)
            assert any("'status' repeats the labels and is not used" in note for note in graph.notes)
            assert int(graph.labels.known.sum()) == 80

    def test_are_not_used_where_nothing_else_is_left(self, tmp_path):
        labels = pd.DataFrame({"customer": IDS, "status": STATUS}).dropna()
        for graph in both_ways(tmp_path, labels, labels, missing="zeros"):
            assert graph.features is None

    def test_are_used_if_the_user_says_so(self, tmp_path):
        labels = pd.DataFrame({"customer": IDS, "status": STATUS}).dropna()
        nodes = PEOPLE.assign(status=STATUS)
        for graph in both_ways(tmp_path, nodes, labels, category=["status"]):
            assert any("status" in name for name in graph.feature_names)

    def test_other_columns_are_used(self, tmp_path):
        other = np.where(np.arange(N) % 5, STATUS, "good")
        labels = pd.DataFrame({"customer": IDS, "outcome": STATUS}).dropna()
        for graph in both_ways(tmp_path, PEOPLE.assign(status=other), labels):
            assert any("status" in name for name in graph.feature_names)

    @pytest.mark.parametrize("kind", [float, bool, int])
    def test_are_recognised_in_other_types(self, kind):
        labels = {node: int(i % 3 == 0) for i, node in enumerate(IDS)}
        copied = PEOPLE.assign(answer=np.array(list(labels.values())).astype(kind))
        assert "answer" not in from_edges(RING, copied, labels=labels).feature_names
        gaps = copied.assign(answer=copied["answer"].astype(float).where(np.arange(N) % 7 > 0))
        graph = from_edges(RING, gaps, labels=labels)
        assert not any("answer" in name for name in graph.feature_names)

    def test_frames_of_polars(self):
        polars = pytest.importorskip("polars")
        nodes = polars.DataFrame(
            {"customer": IDS, "city": PEOPLE["city"].tolist(), "status": STATUS.tolist()}
        )
        labels = polars.DataFrame({"customer": IDS[:80], "kind": STATUS[:80].tolist()})
        graph = from_edges(RING, nodes, labels=labels)
        assert not any("status" in name for name in graph.feature_names)

    @pytest.mark.parametrize("names", [{"good": 1, "bad": 2}, {"good": "is good", "bad": "is bad"}])
    def test_under_other_names_are_noted(self, tmp_path, names):
        labels = pd.DataFrame({"customer": IDS, "status": STATUS}).dropna()
        rating = pd.Series(STATUS).map(names).fillna(names["good"])
        for graph in both_ways(tmp_path, PEOPLE.assign(rating=rating), labels):
            assert any("'rating' has one value for each class of the labels" in note for note in graph.notes)
        for graph in both_ways(tmp_path, PEOPLE.assign(rating=rating, again=pd.Series(STATUS)), labels):
            notes = " ".join(graph.notes)
            assert "'rating' has one value for each class" in notes, "beside a column that was left out"
            assert "'again' repeats the labels" in notes
        mixed = rating.where(np.arange(N) != 7, names["good"] if STATUS[7] == "bad" else names["bad"])
        for graph in both_ways(tmp_path, PEOPLE.assign(rating=mixed), labels):
            assert not any("one value for each class" in note for note in graph.notes)

    @pytest.mark.parametrize("values", [["ann", "bob"], [1.5, 2.5]])
    def test_columns_that_come_with_the_label_are_not_used(self, tmp_path, values):
        labels = pd.DataFrame({"customer": IDS, "status": STATUS}).dropna()
        closed_by = pd.Series(np.where(np.arange(N) < 72, RNG.choice(values, N), None))
        for graph in both_ways(tmp_path, PEOPLE.assign(closed_by=closed_by), labels):
            assert not any("closed_by" in name for name in graph.feature_names)
            (note,) = (note for note in graph.notes if "'closed_by' is not used" in note)
            assert "a value for 90% of the nodes with a label and for 0% of the others" in note
        for graph in both_ways(tmp_path, PEOPLE.assign(closed_by=closed_by), labels, category=["closed_by"]):
            assert any("closed_by" in name for name in graph.feature_names)
        beside = PEOPLE.assign(closed_by=closed_by, label=STATUS)
        beside.to_csv(tmp_path / "beside.csv", index=False)
        for graph in (from_edges(RING, beside), read_graph(tmp_path / "e.csv", tmp_path / "beside.csv")):
            assert not any("closed_by" in name for name in graph.feature_names)

    def test_all_rows_of_a_large_table_count(self, tmp_path):
        n = 25_000
        ring = pd.DataFrame({"source": range(n), "target": [*range(1, n), 0]})
        known = np.arange(n) < 0.6 * n
        status = np.where(known, RNG.choice(["good", "bad"], n), None)
        closed_by = np.where(known, RNG.choice(["ann", "bob"], n), None)
        nodes = pd.DataFrame(
            {"id": range(n), "age": RNG.normal(size=n), "closed_by": closed_by, "label": status}
        )
        ring.to_csv(tmp_path / "e.csv", index=False)
        nodes.to_csv(tmp_path / "n.csv", index=False)
        nodes.to_parquet(tmp_path / "n.parquet")
        graphs = [from_edges(ring, nodes)]
        graphs += [read_graph(tmp_path / "e.csv", tmp_path / name) for name in ("n.csv", "n.parquet")]
        for graph in graphs:
            (note,) = (note for note in graph.notes if "'closed_by' is not used" in note)
            assert "a value for 100% of the nodes with a label and for 0% of the others" in note

    def test_columns_of_one_of_two_kinds_of_nodes_are_used(self):
        users, items = [f"u{i}" for i in range(60)], [f"i{i}" for i in range(60)]
        bought = pd.DataFrame({"source": users * 2, "target": items + items[7:] + items[:7]})
        nodes = pd.DataFrame(
            {
                "id": users + items,
                "age": [*RNG.normal(40, 9, 60), *[None] * 60],
                "price": [*[None] * 60, *RNG.random(60)],
            }
        )
        labels = {user: "ab"[i % 2] for i, user in enumerate(users)}
        graph = from_edges(bought, nodes, labels=labels)
        assert any("age" in name for name in graph.feature_names)
        assert any("if it comes with the label, --ignore age" in note for note in graph.notes)

    def test_columns_with_gaps_everywhere_are_used(self, tmp_path):
        labels = pd.DataFrame({"customer": IDS, "status": STATUS}).dropna()
        score = pd.Series(RNG.random(N)).where((np.arange(N) < 80) | (np.arange(N) % 4 == 0))
        for graph in both_ways(tmp_path, PEOPLE.assign(score=score), labels):
            assert any("score" in name for name in graph.feature_names)

    def test_few_labels_prove_nothing(self):
        words = {f"w{i}": RNG.integers(0, 2, N) for i in range(100)}
        labels = {node: i % 2 for i, node in enumerate(IDS[:6])}
        assert len(from_edges(RING, PEOPLE[["customer"]].assign(**words), labels=labels).feature_names) == 100

    def test_rare_flags_agree_by_chance(self, tmp_path):
        rare = (np.arange(N) % 40 == 0).astype(int)
        labels = pd.DataFrame({"customer": IDS, "fraud": (np.arange(N) % 40 == 7).astype(int)})
        for graph in both_ways(tmp_path, PEOPLE.assign(flag=rare), labels):
            assert any("flag" in name for name in graph.feature_names)

    def test_another_column_of_the_same_name_is_used(self, tmp_path):
        labels = pd.DataFrame({"customer": IDS, "status": STATUS}).dropna()
        nodes = PEOPLE.assign(status=RNG.choice(["active", "dormant"], N))
        for graph in both_ways(tmp_path, nodes, labels):
            assert any("status" in name for name in graph.feature_names)


class TestLabels:
    def test_words_that_may_be_classes_are_classes(self):
        labels = dict(zip(IDS, np.resize(["none", "fraud"], N), strict=True))
        answer = embed(from_edges(RING, PEOPLE, labels=labels), 2).classify()
        assert answer.classes.to_pylist() == ["fraud", "none"]
        assert any("'none' counts as a class" in note for note in answer.notes)

    def test_blanks_and_marks_of_missing_labels(self, tmp_path):
        labels = pd.DataFrame({"customer": IDS[:60], "kind": ["a ", "b", "?", "N/A"] * 15})
        labels.to_csv(tmp_path / "l.csv", index=False)
        PEOPLE.to_csv(tmp_path / "n.csv", index=False)
        RING.to_csv(tmp_path / "e.csv", index=False)
        graph = read_graph(tmp_path / "e.csv", tmp_path / "n.csv", tmp_path / "l.csv")
        for read in (graph, from_edges(RING, PEOPLE, labels=labels)):
            assert read.labels.classes == ("a", "b")
            assert "labels written '?' or 'N/A' are missing" in embed(read, 2).classify().notes

    def test_lost_zeros_are_an_error_even_if_some_ids_have_none(self):
        ids = [*IDS, *(str(10**6 + i) for i in range(N))]
        edges = pd.DataFrame({"source": ids, "target": np.roll(ids, 1)})
        labels = {str(int(node)): "ab"[i % 2] for i, node in enumerate(ids)}
        with pytest.raises(InputError, match=r"120 of its 240 ids are not nodes .* leading zeros only"):
            from_edges(edges, labels=labels)


class TestNumbers:
    @pytest.mark.parametrize(
        "written", ["16145,{:02}", "€ 16.1{:02},19", "$3,3{:02}.34", "3'3{:02}.34", "{}.5%", "{} EUR"]
    )
    def test_that_are_written_for_people(self, written):
        values = [written.format(i % 90) for i in range(N)]
        values[7] = "n/a"
        with pytest.raises(InputError, match=r"column 'revenue' holds numbers (with commas|written such as)"):
            from_edges(RING, PEOPLE.assign(revenue=values))
        graph = from_edges(RING, PEOPLE.assign(revenue=values), category=["revenue"])
        assert any(name.startswith("revenue") for name in graph.feature_names)

    @pytest.mark.parametrize(
        "values",
        [
            ["5%", "10%"],
            ["1.2.3", "1.2.4"],
            ["4711", "0815"],
            ["A1", "B2"],
            ["62.01.11", "26.51.66", "01.11.12"],
        ],
    )
    def test_other_words_are_categories(self, values):
        graph = from_edges(RING, PEOPLE.assign(grade=np.resize(values, N)))
        assert {f"grade: {value}" for value in values} <= {*graph.feature_names}

    def test_phone_numbers_are_not_decorated(self):
        phones = [f"926.702.{1000 + i}" for i in range(N)]
        assert not any(
            "phone" in name for name in from_edges(RING, PEOPLE.assign(phone=phones)).feature_names
        )

    def test_row_numbers_are_pointed_out(self):
        shuffled = PEOPLE.sample(frac=1, random_state=0).reset_index()
        graph = from_edges(RING, shuffled)
        assert any("'index' counts the rows" in note for note in graph.notes)
        assert not any("counts the rows" in note for note in from_edges(RING, PEOPLE).notes)


class TestDates:
    @pytest.mark.parametrize(
        ("written", "note", "doubtful"),
        [
            (
                "01/{month:02}/2024",
                "'since' are read as month/day/year, but could all be day/month/year",
                True,
            ),
            ("{day:02}/{month:02}/2024", "written day/month/year", False),
            ("{month:02}/{month:02}/2024 10:00:00+0{zone}00", "since: date", False),
        ],
    )
    def test_are_read_in_one_format_which_is_named(self, written, note, doubtful):
        dates = [written.format(day=1 + i % 28, month=1 + i % 12, zone=1 + i % 2) for i in range(N)]
        notes = "\n".join(from_edges(RING, PEOPLE.assign(since=dates)).notes)
        assert note in notes
        assert ("could all be" in notes) == doubtful

    def test_with_years_of_two_digits(self):
        dates = [f"{1 + i % 28:02}.{1 + i % 12:02}.{10 + i % 9}" for i in range(N)]
        with pytest.raises(InputError, match="holds dates in a format that is not known"):
            from_edges(RING, PEOPLE.assign(since=dates))


def test_levels_of_an_index_that_have_names_are_features():
    levels = PEOPLE.set_index(["city", "customer"])
    assert sorted(from_edges(RING, levels).feature_names) == sorted(from_edges(RING, PEOPLE).feature_names)


def test_ignored_columns_of_wide_tables_are_named():
    words = {f"word{i}": RNG.choice(["x", "y"], N) for i in range(12)}
    keys = {f"key{i}": [f"k{i}-{j}" for j in range(N)] for i in range(3)}
    notes = "\n".join(from_edges(RING, PEOPLE.assign(**words, **keys)).notes)
    assert "ignored among them: 'key0', 'key1', 'key2'" in notes


def test_an_embedding_is_no_edge_list(tmp_path):
    embed(from_edges(RING, PEOPLE[["customer", "age"]]), 1).write(tmp_path / "v.parquet")
    with pytest.raises(InputError, match="holds lists, as in an embedding"):
        read_graph(tmp_path / "v.parquet")


def test_ids_that_are_written_in_two_ways_are_pointed_out(tmp_path):
    edges = pd.DataFrame({"source": ["1.0", "2.0", "3.0", "1.0"], "target": ["2", "3", "X4", "3"]})
    edges.to_csv(tmp_path / "e.csv", index=False)
    edges.to_parquet(tmp_path / "e.parquet")
    graphs = [from_edges(edges), *(read_graph(tmp_path / name) for name in ("e.csv", "e.parquet"))]
    for graph in graphs:
        hints = [
            note for note in graph.notes if "2 ids are written in two ways, such as '2' and '2.0'" in note
        ]
        assert len(hints) == 1


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a,b,a", "column 'a' twice"),
        ("source,target,Source", "'source' and 'Source', alike but for capitals"),
    ],
)
def test_columns_of_the_same_name_are_named(tmp_path, header, message):
    (tmp_path / "e.csv").write_text(f"{header}\nx,y,z\n")
    with pytest.raises(InputError, match=message):
        read_graph(tmp_path / "e.csv", header=True)


def test_columns_without_effect_are_pointed_out():
    half = np.where(np.arange(N) < N // 2, "east", "west")  # follows the ring
    notes = "\n".join(from_edges(RING, PEOPLE.assign(half=half)).notes)
    assert "a column of weight 0.00 has no effect" in notes
    assert "no effect" not in "\n".join(from_edges(RING, PEOPLE[["customer"]].assign(half=half)).notes)
