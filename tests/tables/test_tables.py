"""Tables of mixed columns as features."""

import json

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from nafs._support.errors import InputError, MissingExtraError
from nafs.datasets import load_dataset
from nafs.graph import read_adjacency
from nafs.tables import TableEncoder, balance, is_plain
from nafs.tables.codecs import FAR, Category, Date, Number, Text
from nafs.tables.kinds import read_values


def people(n=120, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array(["graph", "walk", "node", "edge", "tree", "leaf"])
    ages = rng.integers(20, 60, n).astype(float)
    ages[::10] = np.nan
    days = np.datetime64("2001-01-01") + rng.integers(0, 2000, n)
    return pa.table(
        {
            "age": pa.array(ages, from_pandas=True),
            "income": [str(v) for v in rng.integers(1, 10**6, n)],
            "active": rng.random(n) < 0.5,
            "job": pa.array([None if i % 7 == 0 else ["cook", "vet"][i % 2] for i in range(n)]),
            "city": [f"city{v}" for v in rng.integers(0, 60, n)],
            "key": [f"key-{i}" for i in range(n)],
            "since": [str(day) for day in days],
            "about": [" ".join(rng.choice(words, 4)) for _ in range(n)],
            "empty": pa.nulls(n),
        }
    )


@pytest.fixture(scope="module")
def fitted():
    pytest.importorskip("skrub")
    table = people()
    return table, TableEncoder.fit(table)


def test_every_column_is_judged_and_listed(fitted):
    _, encoder = fitted
    records = {record["column"]: record for record in encoder.records()}
    kinds = {name: record["kind"] for name, record in records.items()}
    assert kinds == {
        "age": "number",
        "income": "number",
        "active": "number",
        "job": "category",
        "city": "category",
        "key": "ignored",
        "since": "date",
        "about": "text",
        "empty": "ignored",
    }
    assert records["key"]["features"] == 0
    assert "ids" in records["key"]["why"]
    assert "words" in records["about"]["done"]
    json.dumps(encoder.records())


def test_an_encoder_survives_as_json_and_arrays_and_encodes_new_rows_alike(fitted):
    table, encoder = fitted
    plain, arrays = encoder.to_plain()
    again = TableEncoder.from_plain(json.loads(json.dumps(plain)), arrays)
    new = table.slice(5, 20).select(table.column_names[::-1])
    for first, second in zip(encoder.blocks(table), again.blocks(new), strict=True):
        np.testing.assert_array_equal(first[5:25].toarray(), second.toarray())
    assert again.records() == encoder.records()
    assert len(again.names()) == sum(block.shape[1] for block in again.blocks(new))
    with pytest.raises(InputError, match="lacks 'about'"):
        again.blocks(new.drop_columns(["about"]))


def test_unknown_and_missing_values_are_zeros(fitted):
    table, encoder = fitted
    row = {name: pa.array([None], table[name].type) for name in table.column_names}
    strange = pa.table(row | {"city": ["nowhere"], "about": ["unheard of"]})
    blocks = dict(zip([e.column for e in encoder.used], encoder.blocks(strange), strict=True))
    assert blocks["age"].toarray().tolist() == [[0.0, 1.0]]  # the mean, and the flag
    for name in ("city", "about", "job", "income"):
        assert not blocks[name].toarray().any()


def test_columns_can_be_forced_or_left_out():
    pytest.importorskip("skrub")
    table = people()
    encoder = TableEncoder.fit(table, text=["job"], category=["income"], ignore=["age", "about"])
    kinds = {record["column"]: record["kind"] for record in encoder.records()}
    assert (kinds["job"], kinds["income"], kinds["age"]) == ("text", "category", "ignored")
    with pytest.raises(InputError, match="no column 'wage'"):
        TableEncoder.fit(table, text=["wage"])
    with pytest.raises(InputError, match="both text and ignored"):
        TableEncoder.fit(table, text=["job"], ignore=["job"])
    with pytest.raises(InputError, match="no column of the table"):
        TableEncoder.fit(table.select(["age"]), ignore=["age"])


def test_without_skrub_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "skrub", None)
    with pytest.raises(MissingExtraError, match=r"nafs\[tables\]"):
        TableEncoder.fit(people())


def test_plain_tables_need_no_encoding():
    assert is_plain(pa.table({"a": [1, 2], "b": [0.5, 1.0], "c": [True, False]}))
    assert not is_plain(pa.table({"a": [1, None]}))
    assert not is_plain(pa.table({"a": ["x", "y"]}))


def test_codecs_by_hand():
    number = Number.fit(np.array([1.0, 3.0]))
    np.testing.assert_allclose(
        number.encode(np.array([1.0, 3.0, 2.0, np.nan, 1e9])).toarray().T, [[-1, 1, 0, 0, FAR]]
    )
    category = Category.fit(np.array(["a", "b", "a", None, "c", "b", "a"], object))
    assert (category.values, category.dropped) == (["a", "b"], 1)
    np.testing.assert_array_equal(
        category.encode(np.array(["b", "c", None], object)).toarray(), [[0, 1], [0, 0], [0, 0]]
    )
    day = 86400.0
    date = Date.fit(np.arange(0, 800 * day, day))
    assert date.names() == ["time", "sine of year", "cosine of year", "sine of week", "cosine of week"]
    text = Text.fit(np.array(["red house", "red car", None], object))
    row = text.encode(np.array(["red red unknown"], object)).toarray()
    np.testing.assert_allclose(np.linalg.norm(row), 1)


def test_a_column_counts_by_what_it_says_about_edges():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, 400)
    chance = np.where(groups[:, None] == groups, 0.1, 0.01)
    graph = read_adjacency(sp.csr_array(np.triu(rng.random((400, 400)) < chance, 1)), directed=False)
    clear = sp.csr_array(np.eye(4, dtype=np.float32)[groups])
    blurred = sp.csr_array(
        np.eye(4, dtype=np.float32)[np.where(rng.random(400) < 0.5, groups, rng.integers(0, 4, 400))]
    )
    noise = sp.csr_array(rng.normal(size=(400, 1)) * 1000)
    weights = balance([clear, blurred, noise], graph)
    lengths = weights.factors * [1, 1, np.sqrt(noise.multiply(noise).mean())]
    assert lengths[0] == 1
    assert 0 < lengths[1] < 0.7
    assert lengths[2] == 0
    equal = balance([clear, blurred, noise], graph, equal=True)
    assert equal.apply([clear, blurred, noise]).shape == (400, 9)
    alone = balance([noise], graph)
    assert alone.factors[0] > 0  # there is nothing better


def test_a_few_of_many_columns_that_fit_by_chance_get_no_weight_of_their_own():
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 300, (2, 900))
    random = read_adjacency(sp.csr_array((np.ones(900), ends), shape=(300, 300)) > 0, directed=False)
    noise = [sp.csr_array(rng.standard_normal((300, 1))) for _ in range(300)]
    one_by_one = [balance([column], random).informative for column in noise]
    assert any(one_by_one)  # some fit by chance
    together = balance(noise, random)
    assert not together.informative
    assert (together.factors > 0).all()
    halves = np.repeat([0.0, 1.0], 150)
    linked = read_adjacency((halves[:, None] == halves) & (rng.random((300, 300)) < 0.05), directed=False)
    column = sp.csr_array(halves[:, None] - 0.5 + 0.3 * rng.standard_normal((300, 1)))
    weighted = balance([*noise, column], linked)
    assert weighted.informative
    assert weighted.factors.argmax() == 300


def test_side_columns_do_not_drown_text(planetoid_home):
    """Cora's words with generated side columns: no worse than the words alone, at 10 % of the labels."""
    pytest.importorskip("skrub")
    from sklearn.linear_model import LogisticRegression

    from nafs import Graph, embed

    graph = load_dataset("cora").graph
    X, n, rng = sp.csr_array(graph.features.toarray()), graph.n_nodes, np.random.default_rng(0)
    table = pa.table(
        {
            "title": [" ".join(f"w{j}" for j in X.indices[X.indptr[i] : X.indptr[i + 1]]) for i in range(n)],
            "views": np.exp(2 * rng.normal(size=n)),
            "venue": rng.choice(list("ABCDEFGH"), n),
            "year": rng.integers(1990, 2020, n),
        }
    )
    encoder = TableEncoder.fit(table)
    blocks = encoder.blocks(table)
    mixed = balance(blocks, graph.adjacency).apply(blocks)
    labels = graph.labels.codes
    train = rng.permutation(n)[: n // 10]
    accuracies = []
    for features in (blocks[0], mixed):
        Z = embed(Graph(graph.adjacency, features), n_hops=8, n_threads=1).matrix
        model = LogisticRegression(C=100, max_iter=300).fit(Z[train], labels[train])
        accuracies.append(model.score(Z, labels))
    assert accuracies[1] > accuracies[0] - 0.01


def test_blanks_around_words_do_not_count():
    table = pa.table({"venue": ["A", "A ", " A", "B", "B\t", "  ", None]})
    values = read_values(table["venue"], "category")
    assert values.tolist() == ["A", "A", "A", "B", "B", None, None]


def test_rows_of_one_kind_of_nodes_are_compared_where_they_share_a_neighbor():
    """Items have rows and buyers have none, so that no edge joins two rows."""
    rng = np.random.default_rng(0)
    taste, kind = rng.integers(0, 3, 200), rng.integers(0, 3, 60)
    bought = (taste[:, None] == kind) & (rng.random((200, 60)) < 0.3)
    matrix = np.zeros((260, 260))
    matrix[:200, 200:] = bought
    graph = read_adjacency(matrix + matrix.T)
    rows = np.zeros((260, 3))
    rows[np.arange(200, 260), kind] = 1
    noise = np.zeros((260, 1))
    noise[200:, 0] = rng.normal(size=60)
    directed = read_adjacency(matrix, directed=True)
    for adjacency in (graph, directed, read_adjacency(matrix.T, directed=True)):
        weights = balance([sp.csr_array(rows), sp.csr_array(noise)], adjacency)
        assert weights.informative
        assert weights.scores[0] > 0.8
        assert weights.factors[1] < 0.1 * weights.factors[0]
