"""What the page shows, without a browser: columns, neighbours, hops, the file format, the server."""

import json
import threading
import urllib.error
import urllib.request

import numpy as np
import pyarrow as pa
import pytest
from command import run
from random_graphs import random_graph

from nafs import Embedding, Graph, embed, smoothing_weights
from nafs._support.errors import InputError
from nafs.cli.page import _with_features_of
from nafs.pictures.layout import landmark_layout, leading_directions, quantised, tsne, turned_like
from nafs.report import collect, read_columns, render
from nafs.report.columns import Column, category, columns_of_table, letters_that_fit
from nafs.report.neighbours import links_for_page, suggestions, suggestions_for_page
from nafs.report.packing import pack, packed_size, unpack
from nafs.report.server import PageServer
from nafs.similarity.nearest import unit_rows

pytest.importorskip("openTSNE")


def graph_and_embedding(seed=7, n=60, **options):
    A, X = random_graph(seed, n=n)
    graph = Graph(A, X, ids=[f"n{i}" for i in range(n)], **options)
    return graph, embed(graph, n_hops=3)


def test_packing_keeps_every_kind_of_array():
    rng = np.random.default_rng(0)
    arrays = {kind: (rng.normal(size=7) * 100).astype(kind) for kind in ("<f4", "<f8", "u1", "<u2", "<i4")}
    data = {"text": "<>&\u2028 'ü", "nested": [{"a": 1.5}, None], "arrays": arrays}
    back = unpack(pack(data))
    assert back["text"] == data["text"]
    assert back["nested"] == data["nested"]
    for kind, array in arrays.items():
        np.testing.assert_array_equal(back["arrays"][kind], array)
    assert pack(data) == pack(data), "same input, same bytes"
    with pytest.raises(TypeError, match="i8"):
        pack({"values": np.arange(3)})


def test_columns_get_their_kinds(tmp_path):
    path = tmp_path / "people.csv"
    rows = ["id,age,city,joined,when,note,empty"]
    rows += [
        f"n{i},{i * 1.5 if i else ''},{'Oslo' if i % 2 else 'Rome'},2020-01-{i + 1:02},"
        f"2020-01-01 0{i}:00:00,{'word ' * (i + 1)}{i},"
        for i in range(9)
    ]
    path.write_text("\n".join(rows))
    ids = pa.array([f"n{i}" for i in (3, 0, 99, 8)])
    with pytest.warns(UserWarning, match="no values that a page can show in 'empty'"):
        columns = {column.title: column for column in read_columns(path, ids)}
    kinds = {title: column.kind for title, column in columns.items()}
    assert kinds == {"age": "number", "city": "category", "joined": "date", "when": "date", "note": "text"}
    np.testing.assert_array_equal(columns["age"].values, [4.5, np.nan, np.nan, 12.0])
    assert [columns["city"].names[code] if code >= 0 else None for code in columns["city"].values] == [
        "Oslo", "Rome", None, "Rome",
    ]  # fmt: skip
    assert columns["joined"].values[0] == 1578096000.0
    assert columns["note"].values[2] is None
    assert [column.title for column in read_columns(path, ids, ["note", "age"])] == ["note", "age"]
    for wanted, message in ((["nothing"], "no column 'nothing'"),):
        with pytest.raises(InputError, match=message):
            read_columns(path, ids, wanted)
    with pytest.raises(InputError, match="id"):
        read_columns(path, pa.array(["x", "y"]), id_column="id")


def test_postcodes_are_no_numbers(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["id,zip", *(f"n{i},{'01067' if i % 2 else '80331'}" for i in range(9))]))
    (column,) = read_columns(path, pa.array([f"n{i}" for i in range(9)]))
    assert column.kind == "category"
    assert set(column.names) == {"01067", "80331"}


def test_a_matrix_of_features_adds_no_columns():
    table = pa.table({"id": ["a", "b"], **{f"f{i}": [0.0, 1.0] for i in range(60)}, "city": ["x", "y"]})
    with pytest.warns(UserWarning, match="1 of 61 columns"):
        assert [column.title for column in columns_of_table(table, pa.array(["a", "b"]))] == ["city"]
    twice = pa.table({"id": ["a", "a"], "city": ["x", "y"]})
    with pytest.raises(InputError, match="'a'"):
        columns_of_table(twice, pa.array(["a", "b"]))


def test_categories_have_the_most_frequent_values_first():
    codes = np.array([70_000, -1, 3, 65_535, 70_000])
    column = category("label", codes, [f"class {i}" for i in range(70_001)])
    shown = column.for_page()
    names = [shown["names"][value] if value < len(shown["names"]) else None for value in shown["values"]]
    assert names == ["class 70000", None, "class 3", "class 65535", "class 70000"]
    assert shown["names"][0] == "class 70000"
    assert shown["counts"] == [2, 1, 1]


def test_an_embedding_alone_has_a_page_too():
    rng = np.random.default_rng(0)
    embedding = Embedding(rng.normal(size=(40, 5)).astype(np.float32), Graph(np.zeros((40, 40))).id_array)
    data = collect(embedding)
    assert [column["title"] for column in data["columns"]] == ["cluster"]
    assert not {"weights", "linked", "replay"} & set(data)
    assert "not stored" in json.dumps(data["cards"])
    names = [item["name"] for item in data["clusters"]["list"]]
    assert len(set(names)) == len(names) > 1
    assert all(name.startswith("around ") for name in names), "named after typical nodes"
    assert render(data).startswith("<!doctype html>")


def test_the_agreement_shown_is_that_of_the_consensus():
    graph, embedding = graph_and_embedding()
    shown = collect(embedding, graph, n_clusters=3, replay=False)["clusters"]
    consensus = embedding.cluster(3, graph=graph).clustering
    assert shown["agreement"] == pytest.approx(consensus.agreement, abs=1e-4)
    assert (shown["candidates"], shown["agreeing"]) == (consensus.n_candidates, consensus.n_agreeing)
    largest_first = np.argsort(-np.bincount(consensus.labels), kind="stable")
    assert [item["size"] for item in shown["list"]] == np.bincount(consensus.labels)[largest_first].tolist()
    np.testing.assert_allclose(
        [item["agreement"] for item in shown["list"]],
        consensus.cluster_agreement[largest_first],
        atol=1e-4,
    )
    chosen = embed(graph, n_hops="auto", n_clusters=3)
    assert collect(chosen, graph, replay=False)["clusters"]["agreement"] == pytest.approx(
        chosen.choice.clustering.agreement, abs=1e-4
    ), "a run that chose its hops by clusters shows those clusters"


def test_columns_of_the_same_name_keep_apart():
    graph, embedding = graph_and_embedding()
    mine = pa.table(
        {"id": [f"n{i}" for i in range(60)], "cluster": ["a", "b", "c"] * 20, "degree": range(60)}
    )
    columns = columns_of_table(mine, embedding.id_array)
    titles = [item["title"] for item in collect(embedding, graph, columns=columns, replay=False)["columns"]]
    assert titles[:4] == ["cluster", "degree", "nafs cluster", "nafs degree"]


def suggested_rows(data):
    """The suggestions of each node as the page reads them."""
    further = iter(data["suggested"]["further"].tolist())
    near, k = data["nearest"]["rows"], data["nearest"]["k"]
    return [
        [next(further) if place >= k else int(near[node, place]) for place in places if place < 255]
        for node, places in enumerate(data["suggested"]["places"].tolist())
    ]


def test_neighbours_links_and_suggestions_are_true():
    graph, embedding = graph_and_embedding()
    A = graph.adjacency.to_scipy().toarray() != 0
    data = collect(embedding, graph, replay=False)
    near = data["nearest"]["rows"]
    unit = unit_rows(embedding.matrix)
    scores = unit @ unit.T
    np.fill_diagonal(scores, -np.inf)
    np.testing.assert_allclose(
        np.take_along_axis(scores, near, 1), -np.sort(-scores, axis=1)[:, :10], atol=1e-6
    )
    drops = data["nearest"]["drops"].astype(float)
    shown = 2 * drops[:, :1] - np.cumsum(drops, axis=1)
    np.testing.assert_allclose(shown / 1000 - 1, np.take_along_axis(scores, near, 1), atol=6e-4)
    links = links_for_page(graph.adjacency)
    for node in range(graph.n_nodes):
        mine = np.cumsum(links["steps"][links["offsets"][node] : links["offsets"][node + 1]])
        assert set(mine) <= set(np.flatnonzero(A[node]))
        assert links["degrees"][node] == A[node].sum()
    rows, shared = suggestions(graph.adjacency, np.arange(graph.n_nodes), near.astype(np.int64))
    for node, others in enumerate(rows):
        free = [other for other in near[node] if not A[node, other]][:5]
        assert [other for other in others if other >= 0] == free
        for other, count in zip(others, shared[node], strict=True):
            assert count == ((A[node] & A[other]).sum() if other >= 0 else 0)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :20]
    assert suggested_rows(data) == [
        [row for row in order[node] if not A[node, row]][:5] for node in range(graph.n_nodes)
    ]


def test_suggestions_beyond_the_nearest_nodes_that_are_listed():
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((60, 60)) < 0.7, 1)
    A = A | A.T
    near = np.array([rng.permutation(np.delete(np.arange(60), node))[:20] for node in range(60)])
    nearest = {"rows": near[:, :10], "k": 10}
    suggested = suggestions_for_page(Graph(A.astype(float)).adjacency, near)
    assert len(suggested["further"]) > 50
    expected = [[row for row in near[node] if not A[node, row]][:5] for node in range(60)]
    assert suggested_rows({"nearest": nearest, "suggested": suggested}) == expected


def test_texts_are_cut_where_the_file_would_grow_large():
    rng = np.random.default_rng(0)
    texts = ["".join(map(chr, rng.integers(97, 123, 600))) for _ in range(300)]
    column = Column("note", "text", texts)
    assert letters_that_fit([column], 1e6) == 400
    letters = letters_that_fit([column], 50_000)
    assert packed_size([text[:letters] for text in texts]) == pytest.approx(50_000, rel=0.05)
    assert f"first {letters} letters" in column.for_page(letters)["explain"]
    assert letters_that_fit([column], -1) == 20


def test_weights_are_those_of_the_method():
    A, X = random_graph(9, n=40)
    graph = Graph(A, X)
    embedding = embed(graph, n_hops=3, r=0.0)
    data = collect(embedding, graph, replay=False)
    weights = data["weights"]["values"].reshape(40, 4).astype(float)
    expected = smoothing_weights(X, A, 3, 0.0)
    np.testing.assert_allclose(weights / weights.sum(axis=1, keepdims=True), expected, atol=3e-3)
    unknown = Embedding(embedding.matrix, embedding.id_array)
    assert "weights" not in collect(unknown, graph, replay=False), "nobody knows the number of hops"


def test_the_replay_contains_the_hops_of_the_embedding():
    graph, embedding = graph_and_embedding()
    replay = collect(embedding, graph)["replay"]
    assert replay["steps"][replay["start"]] == 3
    assert all(len(item["positions"]) == len(replay["steps"]) for item in replay["maps"])
    assert "others" not in replay, "every node is on the maps"


def test_the_replay_places_nodes_beyond_its_sample(monkeypatch):
    monkeypatch.setattr("nafs.report.hops.REPLAYED", 40)
    graph, embedding = graph_and_embedding()
    replay = collect(embedding, graph)["replay"]
    assert len(replay["nodes"]) == 40
    places = np.cumsum(replay["others"], axis=1, dtype=np.uint8)
    assert places.shape == (2, len(replay["steps"]), 2, 60)
    for item, planes in zip(replay["maps"], places, strict=True):
        for exact, (x, y) in zip(item["positions"], planes, strict=True):
            apart = np.column_stack([x, y])[replay["nodes"]] - exact / 516
            assert np.median(np.abs(apart)) < 1, "nodes of the sample are placed where they are"
    monkeypatch.setattr("nafs.report.contents.DETAILED", 10)
    assert "others" not in collect(embedding, graph)["replay"], "too many nodes for a file"
    assert "others" in collect(embedding, graph, details=False)["replay"], "a server sends them"


def test_pages_of_odd_graphs():
    alike = Graph(np.ones((20, 20)), np.ones((20, 2)))
    collect(embed(alike, n_hops=3), alike)
    empty = Graph(np.zeros((12, 12)), np.eye(12))
    assert collect(embed(empty, n_hops=3, r=1), empty, replay=False)["weights"]["hops"] == 3
    tiny = Graph(np.array([[0, 1], [1, 0]]), np.eye(2))
    assert render(collect(embed(tiny, n_hops=2), tiny))


def test_maps_are_turned_like_the_one_before():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(50, 2))
    turn = np.array([[0.0, 1.0], [1.0, 0.0]])
    expected = places - places.mean(axis=0)
    np.testing.assert_allclose(turned_like(places @ turn + 3, places), expected, atol=1e-9)
    for n in (1, 3, 4, 10):
        assert tsne(rng.normal(size=(n, 3))).shape == (n, 2)
    first, second = (tsne(np.eye(30) + 0.1, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_landmarks_keep_groups_together():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, 2000)
    rows = np.eye(4, 80)[groups] * 4 + rng.normal(size=(2000, 80)) * 0.3
    done = []
    places = landmark_layout(rows, n_landmarks=300, progress=done.append)
    assert sum(done) == pytest.approx(1)
    centres = np.stack([np.median(places[groups == group], axis=0) for group in range(4)])
    closest = ((places[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (closest == groups).mean() > 0.99
    assert leading_directions(rows).shape == (2000, 48)
    assert quantised(places).max() == 65535


def test_a_server_answers_for_each_node_and_only_for_itself():
    graph, embedding = graph_and_embedding()
    data = collect(embedding, graph, replay=False, details=False)
    assert "nearest" not in data
    with PageServer(data, embedding, graph) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with urllib.request.urlopen(server.address) as answer:
            page = answer.read().decode()
        assert 'data-from="data"' in page
        assert "connect-src 'self'" in page
        with urllib.request.urlopen(server.address + "data") as answer:
            assert unpack(answer.read())["server"] is True
        with urllib.request.urlopen(server.address + "node/5") as answer:
            facts = json.load(answer)
        whole = collect(embedding, graph, replay=False)
        assert [item["row"] for item in facts["nearest"]] == whole["nearest"]["rows"][5].tolist()
        assert [item["row"] for item in facts["suggested"]] == suggested_rows(whole)[5]
        for path, code in (("node/999", 404), ("node/-1", 404), ("../etc/passwd", 404)):
            with pytest.raises(urllib.error.HTTPError) as failed:
                urllib.request.urlopen(server.address + path)
            assert failed.value.code == code
            failed.value.close()
        request = urllib.request.Request(server.address, headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError) as failed:
            urllib.request.urlopen(request)
        assert failed.value.code == 403, "another site's name for this machine"
        with pytest.raises(InputError, match="cannot be used"):
            PageServer(data, embedding, graph, server.server_address[1])
        failed.value.close()
        server.shutdown()


def test_explore_reports_its_progress():
    graph, embedding = graph_and_embedding()
    told = []
    embedding.explore(graph, progress=lambda name, share: told.append((name, share)))
    assert {"map", "clusters", "neighbours", "replay"} <= {name for name, _ in told}
    shares = [share for name, share in told if name == "map"]
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


def test_explore_in_a_notebook_and_into_a_file(tmp_path):
    graph, embedding = graph_and_embedding(labels=["a", "b"] * 30)
    frame = pa.table({"id": [f"n{i}" for i in range(60)], "city": ["Oslo", "Rome"] * 30})
    shown = embedding.explore(graph, frame)._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "allow-same-origin" not in shown
    assert shown.count("<") == 2, "the page is text inside the attribute"
    assert embedding.explore(path=tmp_path / "page.html") is None
    assert (tmp_path / "page.html").stat().st_size > 100_000


def test_the_command(tmp_path, capsys):
    graph, embedding = graph_and_embedding()
    graph.save(tmp_path / "graph")
    embedding.write(tmp_path / "e.parquet")
    table = tmp_path / "people.csv"
    table.write_text(
        "id,city,age\n" + "".join(f"n{i},{'Oslo' if i % 3 else 'Rome'},{i}\n" for i in range(60))
    )
    page = tmp_path / "r.html"
    shared = ["--graph", tmp_path / "graph", "--columns-from", table]
    assert run("report", tmp_path / "e.parquet", "-o", page, "-q") == 0
    assert run("report", tmp_path / "e.parquet", *shared, "-o", page, "-q", "--force", "--no-replay") == 0
    assert run("explore", tmp_path / "e.parquet", *shared, "--no-browser", "--no-replay", "--json") == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == 60
    assert (
        run("report", tmp_path / "graph", "-o", page, "--no-replay", "--hops", "2", "--force", "--json") == 0
    )
    assert json.loads(capsys.readouterr().out)["nodes"] == 60
    for arguments, message in (
        (["report", tmp_path / "graph", "-o", page], "exists already"),
        (["report", tmp_path / "graph", "-o", tmp_path / "r.pdf"], "name it .html"),
        (["report", tmp_path / "none.csv", "-o", tmp_path / "x.html"], "no such file"),
        (["explore", tmp_path / "e.parquet", "--columns", "age"], "--columns-from"),
        (["explore", tmp_path / "e.parquet", "--port", "99999"], "--port"),
        (
            ["report", tmp_path / "e.parquet", *shared, "--columns", "x", "-o", tmp_path / "x.html"],
            "'x'",
        ),
    ):
        assert run(*arguments) == 2
        assert message in " ".join(capsys.readouterr().err.split())
    other = Graph(*random_graph(8, n=50), ids=[f"m{i}" for i in range(50)])
    other.save(tmp_path / "other")
    wrong = ["report", tmp_path / "e.parquet", "--graph", tmp_path / "other", "-o", tmp_path / "x.html"]
    assert run(*wrong) == 2
    capsys.readouterr()


def test_structural_columns_are_made_again_only_where_there_was_nothing_else(tmp_path):
    graph, _ = graph_and_embedding()
    bare = Graph(graph.adjacency, ids=graph.ids)
    both = embed(graph, n_hops=2, structure=8)
    assert _with_features_of(both.settings, bare) is bare
    assert _with_features_of(embed(graph, n_hops=2, structure="none").settings, bare) is bare
    structural = _with_features_of(embed(bare, n_hops=2, dim=8).settings, bare)
    assert structural.features.shape == (60, 8)
    both.write(tmp_path / "e.parquet")
    bare.save(tmp_path / "bare")
    page = tmp_path / "r.html"
    assert run("report", tmp_path / "e.parquet", "--graph", tmp_path / "bare", "-o", page, "-q") == 0


def test_an_embedding_in_text_is_not_taken_for_edges(tmp_path):
    _, embedding = graph_and_embedding(labels=["a", "b"] * 30)
    page = tmp_path / "r.html"
    for name in ("e.csv", "e.tsv.gz"):
        embedding.write(tmp_path / name)
        assert run("report", tmp_path / name, "-o", page, "-q", "--force") == 0
