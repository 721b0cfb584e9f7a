"""Classes from a few labels, with probabilities that can be trusted."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from command import run
from threadpoolctl import threadpool_limits

from nafs import Graph, InputError, embed, from_edges
from nafs.answers import classify, width_for_classes
from nafs.answers.classes import interval
from nafs.datasets import contextual_sbm, example_table
from nafs.selection.preprocessing import own_features_of


@pytest.fixture(scope="module")
def graph():
    return contextual_sbm(
        900, n_classes=3, homophily=0.9, average_degree=10, n_features=8, signal=0.8, seed=0
    )


def few_labels(graph, per_class=20, seed=0):
    rng = np.random.default_rng(seed)
    labels = [None] * graph.n_nodes
    for code in range(3):
        for node in rng.choice(np.flatnonzero(graph.labels.codes == code), per_class, replace=False):
            labels[node] = f"class {code}"
    return labels


def test_held_out_accuracy_is_what_it_says(graph):
    labels = few_labels(graph)
    answer = embed(graph, n_hops=5).classify(labels)
    truth, unseen = graph.labels.codes, np.array([label is None for label in labels])
    actual = (answer.codes == truth)[unseen].mean()
    assert actual > 0.8
    assert abs(answer.accuracy - actual) < 0.1
    assert f"{answer.accuracy:.3f}" in answer.explain()


def test_probabilities_are_calibrated(graph):
    errors = []
    for seed in range(3):
        labels = few_labels(graph, 30, seed)
        answer = embed(graph, n_hops=3).classify(labels)
        unseen = np.array([label is None for label in labels])
        sure = answer.probabilities.max(axis=1)[unseen]
        right = (answer.codes == graph.labels.codes)[unseen]
        errors.append(abs(sure.mean() - right.mean()))
    assert np.mean(errors) < 0.06
    np.testing.assert_allclose(answer.probabilities.sum(axis=1), 1, atol=1e-9)


def test_the_same_answer_again(graph):
    embedding, labels = embed(graph, n_hops=2), few_labels(graph)
    first, second = (embedding.classify(labels).to_arrow() for _ in range(2))
    assert first.equals(second)


def test_classes_of_very_different_size_are_counted_alike_too():
    rng = np.random.default_rng(3)
    classes = np.repeat(["usual", "rare"], [180, 20])
    vectors = np.c_[(classes == "rare") + rng.standard_normal(200), rng.standard_normal(200)]
    ids = pa.array(range(200))
    answer = classify(vectors, ids, dict(enumerate(classes)))
    (note,) = (note for note in answer.notes if "whatever their size" in note)
    assert "of 20 labels 'rare'" in note
    mean, lowest = map(float, re.findall(r"0\.\d{3}", note))
    assert lowest < mean < answer.accuracy
    assert any(
        re.search("'rare': AUC on held-out labels 0.[6-9].*it can rank nodes", note) for note in answer.notes
    )
    table = answer.to_pandas(all_probabilities=True)
    rare = table["probability of rare"]
    np.testing.assert_allclose(rare + table["probability of usual"], 1)
    assert rare[classes == "rare"].mean() > 2 * rare[classes == "usual"].mean()
    assert "probability of rare" not in answer.to_pandas()
    even = classify(vectors, ids, dict(enumerate(np.repeat(["one", "other"], 100))))
    assert not any("whatever their size" in note for note in even.notes)


def test_the_interval_of_an_accuracy_covers_it_as_often_as_it_says():
    rng = np.random.default_rng(0)
    for share, number in ((0.7, 30), (0.95, 60), (0.5, 400)):
        counts = rng.binomial(number, share, 2000)
        bounds = [interval(count / number, number) for count in counts]
        assert 0.91 < np.mean([low <= share <= high for low, high in bounds]) < 0.99
    assert interval(1.0, 30)[0] < 0.9


def test_many_classes_seen_once_are_counted():
    names = [*"abcdefghi", "a", "b", "a"]
    labels = dict(enumerate(f"class {name}" for name in names))
    answer = classify(np.random.default_rng(0).random((40, 5)), pa.array(range(40)), labels)
    assert "class c, class d, class e, class f, class g and 2 more" in answer.explain()


def test_a_class_seen_once_is_predicted_and_said():
    points = np.repeat(np.eye(3), 10, axis=0)
    labels = {0: "a", 1: "a", 10: "b", 11: "b", 20: "rare"}
    answer = classify(points, pa.array(range(30)), labels)
    assert answer.to_arrow()["predicted"].to_pylist()[20:] == ["rare"] * 10
    assert "classes with a single label" in answer.explain()
    assert answer.to_arrow()["label"].to_pylist()[:3] == ["a", "a", None]
    once = classify(points, pa.array(range(30)), {0: "a", 10: "b"})
    assert once.accuracy is None
    assert "too few labels" in once.explain()


def test_a_single_label_counts_as_wrong():
    points = np.repeat(np.eye(3), 10, axis=0)
    labels = {0: "a", 1: "a", 2: "a", 10: "b", 11: "b", 12: "b", 20: "rare"}
    answer = classify(points, pa.array(range(30)), labels)
    assert answer.accuracy == pytest.approx(6 / 7)
    assert "from 7 labels" in answer.explain()


def test_a_class_with_many_labels_does_not_outvote_one_with_one():
    rng = np.random.default_rng(0)
    points = np.repeat(np.eye(2), 50, axis=0) + 0.2 * rng.standard_normal((100, 2))
    answer = classify(points, pa.array(range(100)), {**dict.fromkeys(range(11), "a"), 50: "b"})
    assert np.mean(answer.codes == np.repeat([0, 1], 50)) > 0.95


def test_classes_that_no_node_gets_are_named():
    points = np.repeat(np.eye(2), 20, axis=0)
    labels = {0: "a", 1: "a", 2: "a", 3: "odd", 20: "b", 21: "b", 22: "b"}
    assert (
        "no node without a label is predicted to be of class 'odd'"
        in classify(points, pa.array(range(40)), labels).explain()
    )


def test_six_labels_cannot_tell_whether_they_are_better_than_guessing():
    points = np.repeat(np.eye(2), 20, axis=0)
    labels = {0: "a", 1: "a", 2: "a", 3: "a", 20: "b", 21: "b"}
    answer = classify(points, pa.array(range(40)), labels)
    assert "6 labels are too few to tell whether this is better than guessing" in answer.explain()
    assert "do not trust" not in answer.explain()


@pytest.mark.parametrize(("signal", "said"), [(5.0, None), (0.0, "do not trust the predicted classes")])
def test_a_very_rare_class_can_be_told_from_guessing(signal, said):
    rng = np.random.default_rng(0)
    fraud = np.arange(3000) % 80 == 0
    points = rng.normal(size=(3000, 4)) + signal * fraud[:, None]
    names = np.where(fraud, "fraud", "honest")
    notes = classify(points, pa.array(range(3000)), list(names), unlabelled=False).explain()
    assert "too few" not in notes
    assert ("do not trust" in notes) == (said is not None)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({99: "a"}, "labels name unknown ids: 0 of the 1 ids with labels are in the graph; 99 is not"),
        ({0: "a", 1: "a"}, "one class only"),
        (["a", "b"], "labels have 2 entries for 4 nodes"),
        ([None] * 4, "no node has a label"),
    ],
)
def test_labels_that_cannot_be_used(labels, message):
    with pytest.raises(InputError, match=message):
        classify(np.eye(4), pa.array(range(4)), labels)


def test_an_embedding_without_labels(graph):
    embedding = embed(graph, n_hops=1)
    bare = type(embedding)(embedding.matrix, embedding.id_array)
    with pytest.raises(InputError, match="labels are needed"):
        bare.classify()


def test_wide_features_keep_all_columns_for_classes():
    graph = Graph(np.ones((6, 6)), np.eye(6, 400), labels=[0, 1, None, None, None, None])
    assert width_for_classes(graph) == ("full", ())
    assert width_for_classes(graph, memory_limit=4 * graph.features.matrix.size * 4) == ("full", ())
    width, (note,) = width_for_classes(graph, memory_limit=3 * graph.features.matrix.size * 4)
    assert width == "auto"
    assert "256 leading directions of the 400 features are used" in note
    assert width_for_classes(Graph(np.ones((6, 6)))) == ("auto", ())


def test_an_embedding_says_that_columns_are_missing():
    features = np.random.default_rng(0).normal(size=(300, 270))
    graph = Graph(np.eye(300, k=1) + np.eye(300, k=-1), features, labels=[0, 1] * 150)
    assert "keep 256 of 270 columns" in embed(graph, n_hops=1).classify().explain()
    assert "columns" not in embed(graph, n_hops=1, dim="full").classify().explain()


def test_the_command_keeps_all_columns(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    rows = rng.normal(size=(300, 260)).round(3)
    lines = [",".join(["id", *(f"f{i}" for i in range(260))])]
    lines += [",".join(map(str, [f"n{node}", *row])) for node, row in enumerate(rows)]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    (tmp_path / "e.csv").write_text("source,target\n" + "\n".join(f"n{i},n{i + 1}" for i in range(299)))
    (tmp_path / "y.csv").write_text("id,label\n" + "\n".join(f"n{i},c{i % 2}" for i in range(60)))
    words = ["classify", "e.csv", "-f", "x.csv", "--labels", "y.csv", "--hops", "2", "-o", "p.csv", "--force"]
    assert run(*words) == 0
    assert "reduced" not in capsys.readouterr().err
    assert run(*words, "--dim", "16") == 0
    assert "260 features reduced to 16" in capsys.readouterr().err


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["classify", example_table("citations"), "--labels", example_table("known_topics")]
    assert run(*words, "--hops", "3", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    rows = rows["rows"] if isinstance(rows, dict) else rows
    assert len(rows) == 240
    topics = dict(line.split(",") for line in example_table("all_topics").read_text().splitlines())
    right = [row["predicted"] == topics[row["id"]] for row in rows]
    assert np.mean(right) > 0.7
    assert run(*words, "--hops", "3", "-o", "predictions.parquet") == 0
    assert "accuracy on held-out labels" in capsys.readouterr().err
    assert run("classify", example_table("citations")) == 2
    assert "give a table of ids and labels with --labels" in " ".join(capsys.readouterr().err.split())


def test_the_command_writes_the_probability_of_every_class(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["classify", example_table("citations"), "--labels", example_table("known_topics")]
    assert run(*words, "--hops", "3", "-o", "topics.csv", "--all-probabilities") == 0
    table = pd.read_csv("topics.csv")
    shares = table.filter(like="probability of ")
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(shares.max(axis=1), table["probability"], atol=1e-6)


def test_the_notes_are_about_classes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["classify", example_table("citations"), "--labels", example_table("known_topics")]
    assert run(*words, "-f", example_table("papers"), "--ignore", "author", "-o", "p.csv") == 0
    notes = " ".join(capsys.readouterr().err.split())
    assert "chosen without the labels" in notes
    assert "number of clusters" not in notes
    assert "clusterings" not in notes


def test_few_labels_do_not_promise_much():
    rng = np.random.default_rng(0)
    stated, true = [], []
    for _ in range(20):
        codes = rng.integers(0, 3, 400)
        points = 1.5 * np.eye(3)[codes] + rng.normal(size=(400, 3))
        labels = [f"c{code}" if node < 20 else None for node, code in enumerate(codes)]
        answer = classify(points, pa.array(range(400)), labels)
        names = np.array(answer.classes.to_pylist())[answer.codes[20:]]
        stated.append(answer.probabilities[20:].max(axis=1).mean())
        true.append((names == [f"c{code}" for code in codes[20:]]).mean())
    assert abs(np.mean(stated) - np.mean(true)) < 0.02


def test_short_rows_follow_their_direction():
    """Nodes without features of their own have short rows; they are not all put into the largest class."""
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.repeat([0, 1, 2], 100))
    rows = np.eye(3)[truth] + 0.1 * rng.standard_normal((300, 3))
    short = np.arange(200, 300)
    rows[short] *= 0.001
    labels = [None] * 300
    for code, count in ((0, 30), (1, 8), (2, 8)):
        for node in np.flatnonzero(truth[:200] == code)[:count]:
            labels[node] = int(code)
    answer = classify(rows, pa.array(range(300)), labels)
    assert (answer.codes == truth)[short].mean() > 0.95


def test_labels_in_frames_are_keyed_by_id():
    points = np.repeat(np.eye(2), 10, axis=0)
    ids = pa.array([f"n{i}" for i in range(20)])
    known = {"n1": "a", "n2": "a", "n11": "b", "n12": "b", "n13": None}
    expected = classify(points, ids, known).to_arrow()
    frame = pd.DataFrame({"who": list(known), "kind": list(known.values())})
    for labels in (frame, frame.set_index("who"), frame.set_index("who")["kind"], pa.table(dict(frame))):
        assert classify(points, ids, labels).to_arrow().equals(expected)
    with pytest.raises(ValueError, match="'x' is not; ids of the graph are 'n0'"):
        classify(points, ids, pd.DataFrame({"id": ["x"], "class": ["a"]}))
    with pytest.raises(ValueError, match="keep two columns, id and class"):
        classify(points, ids, frame.assign(more=1, id=frame.who))
    with pytest.raises(ValueError, match="'n1'"):
        classify(points, ids, pd.DataFrame({"id": ["n1", "n1"], "class": ["a", "b"]}))


def test_too_few_labels_because_their_ids_are_unknown(tmp_path, monkeypatch, capsys):
    """The error says that the ids of the labels are not those of the graph."""
    monkeypatch.chdir(tmp_path)
    ring = pd.DataFrame({"source": [f"p{i}" for i in range(20)]})
    ring["target"] = np.roll(ring.source, 1)
    ring.to_csv("edges.csv", index=False)
    ids = ["p1", "p2", *(f"P-{i}" for i in range(18))]
    labels = pd.DataFrame({"id": ids, "topic": ["x", "x", *"xy" * 9]})
    labels.to_csv("few.csv", index=False)
    why = "2 of the 20 ids with labels are in the graph; 'P-17' is not; ids of the graph are 'p0'"
    assert run("classify", "edges.csv", "--labels", "few.csv", "--hops", "2") == 2
    message = capsys.readouterr().err
    assert "--labels have one class only" in message
    assert why in message
    with pytest.raises(InputError, match=f"one class only.*: {why}"):
        embed(from_edges(ring, labels=labels), n_hops=2).classify()
    labels.loc[:1, "topic"] = None
    with pytest.raises(InputError, match=f"no node has a label.*; {why}"):
        from_edges(ring, labels=labels)


def test_classes_that_differ_in_capitals_are_pointed_out(graph):
    embedding = embed(graph, n_hops=2)
    names = {node: ("Spam", "spam", "ham")[node % 3] for node in range(60)}
    notes = embedding.classify(names).notes
    assert any("the classes 'Spam' and 'spam' differ only in how they are written" in note for note in notes)
    again = embedding.classify({node: name.lower() for node, name in names.items()})
    assert not any("differ only" in note for note in again.notes)


def test_misspelled_and_doubtful_classes_are_pointed_out(graph):
    embedding = embed(graph, n_hops=2)
    names = {node: ("Retail", "Online", "unknown")[node % 3] for node in range(60)}
    notes = "\n".join(embedding.classify(names | {60: "Retial"}).notes)
    assert "the class 'Retial' (1 label) is spelled almost like 'Retail' (20 labels)" in notes
    assert "'unknown' counts as a class" in notes
    codes = embedding.classify({node: node % 3 - 1 for node in range(60)}).explain()
    assert "-1 counts as a class" in codes
    assert "spelled almost" not in embedding.classify({n: f"topic {n % 3}" for n in range(60)}).explain()


def words_of_classes(n=300, seed=0):
    """A graph whose edges say little about the classes, and words that say much."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 3, n)
    words = np.zeros((n, 60), np.float32)
    for node in range(n):
        words[node, np.r_[20 * classes[node] + rng.integers(0, 20, 3), rng.integers(0, 60, 5)]] = 1
    edges = np.zeros((n, n), bool)
    edges[rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n)] = True
    np.fill_diagonal(edges, False)
    return Graph(edges, words, directed=False), classes


def noisy_vectors(classes):
    """Vectors that say less about the classes than the words do."""
    return np.eye(3)[classes] + 0.8 * np.random.default_rng(2).standard_normal((len(classes), 3))


def test_own_features_are_heard_where_that_helps():
    graph, classes = words_of_classes()
    labels = {node: "abc"[classes[node]] for node in range(90)}
    right = {}
    for source in (None, graph):
        answer = classify(noisy_vectors(classes), graph.id_array, labels, graph=source)
        predicted = np.array(answer.to_arrow()["predicted"].to_pylist())
        heard = "own features count" in answer.explain()
        right[heard] = (predicted[90:] == np.array(list("abc"))[classes[90:]]).mean()
        assert abs(answer.accuracy - right[heard]) < 0.15
    assert right[True] > right[False] + 0.05


def test_own_features_that_do_not_help_or_cannot_be_used_change_nothing():
    graph, classes = words_of_classes()
    labels = {node: "abc"[classes[node]] for node in range(90)}
    rng = np.random.default_rng(1)
    embedding = embed(graph, n_hops=2)
    alone = embedding.classify(labels)
    for features, usable in ((rng.standard_normal((300, 12)), False), (np.ones((300, 12)), True)):
        other = Graph(graph.adjacency, features, directed=False)
        assert (own_features_of(other) is not None) == usable
        answer = embedding.classify(labels, graph=other)
        np.testing.assert_array_equal(answer.probabilities, alone.probabilities)
        assert ("negative" in answer.explain()) != usable


def test_a_graph_of_another_size_or_in_place_of_labels_is_refused():
    graph, _ = words_of_classes(30)
    with pytest.raises(InputError, match="graph has 30 nodes, and there are 4 vectors"):
        classify(np.eye(4), pa.array(range(4)), {0: "a", 1: "b"}, graph=graph)
    with pytest.raises(InputError, match="labels are a graph: pass it as graph"):
        embed(graph, n_hops=1).classify(graph)


def test_bits_do_not_depend_on_threads():
    graph, classes = words_of_classes()
    labels = {node: "abc"[classes[node]] for node in range(90)}
    answers = []
    for count in (1, 2):
        with threadpool_limits(count):
            answers.append(classify(noisy_vectors(classes), graph.id_array, labels, graph=graph))
    np.testing.assert_array_equal(answers[0].probabilities, answers[1].probabilities)


def test_odds_of_features_come_from_a_sample_of_a_large_graph(monkeypatch):
    graph, classes = words_of_classes(400)
    labels = {node: "abc"[classes[node]] for node in range(90)}
    vectors = noisy_vectors(classes)
    whole = classify(vectors, graph.id_array, labels, graph=graph)
    monkeypatch.setattr("nafs.answers.sources._SAMPLE", 150)
    monkeypatch.setattr("nafs.answers.sources._VALUES", 100)
    sampled = classify(vectors, graph.id_array, labels, graph=graph)
    assert "own features count" in sampled.explain()
    assert (whole.codes == sampled.codes).mean() > 0.85


def test_a_graph_with_other_nodes_is_refused():
    graph, _ = words_of_classes()
    other, _ = words_of_classes(200)
    with pytest.raises(ValueError, match="not the graph that was embedded"):
        embed(graph, n_hops=2).classify({0: "a", 1: "b"}, graph=other)
