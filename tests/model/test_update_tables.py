"""Tables and settings of a model: what is read, what is refused before any work, and what is reported."""

import numpy as np
import pandas as pd
import pytest
from models import model_of
from typer.testing import CliRunner

from nafs import Graph, from_edges
from nafs._support.errors import InputError, MemoryLimitError
from nafs.cli.app import app
from nafs.model import Model
from nafs.model.spread import tolerances
from nafs.pipeline import Job, Settings, decide
from nafs.smoothing import Method

METHOD = Method(2, (0.0, 0.5))


def run(*arguments, fails=False):
    result = CliRunner().invoke(app, [str(part) for part in arguments])
    assert (result.exit_code != 0) == fails, result.output
    return " ".join(f"{result.output} {result.exception}".split())


@pytest.fixture
def model(tmp_path):
    rng = np.random.default_rng(0)
    ids = [f"p{i}" for i in range(30)]
    pd.DataFrame({"from": rng.choice(ids, 60), "to": rng.choice(ids, 60)}).to_csv(
        tmp_path / "edges.csv", index=False
    )
    pd.DataFrame({"id": ids, "a": rng.random(30), "b": rng.random(30)}).to_csv(
        tmp_path / "nodes.csv", index=False
    )
    tables = [tmp_path / "edges.csv", "-f", tmp_path / "nodes.csv", "--source", "from", "--target", "to"]
    run("embed", *tables, "--hops", 2, "-o", tmp_path / "v.csv", "--keep", tmp_path / "model")
    return tmp_path / "model"


def test_columns_that_were_named_must_be_there(model, tmp_path):
    (tmp_path / "more.csv").write_text("source,target\np1,p2\np1,p2\np3,p3\n")
    output = run("update", model, "--edges", tmp_path / "more.csv", "--source", "form", fails=True)
    assert "form" in output
    assert "source" in output
    output = run("update", model, "--edges", tmp_path / "more.csv")  # "from" was remembered only
    assert "1 repeated" in output
    assert "1 self-loop dropped" in output
    (tmp_path / "gone.csv").write_text("name\np1\n")
    assert "nmae" in run("update", model, "--remove-nodes", tmp_path / "gone.csv", "--id", "nmae", fails=True)
    run("update", model, "--remove-nodes", tmp_path / "gone.csv", "--id", "name")


def test_a_removed_node_does_not_come_back_without_features(model, tmp_path):
    (tmp_path / "more.csv").write_text("source,target\np1,p2\n")
    (tmp_path / "gone.csv").write_text("id\np1\n")
    changes = ["--edges", tmp_path / "more.csv", "--remove-nodes", tmp_path / "gone.csv"]
    assert "no features ('p1')" in run("update", model, *changes, fails=True)
    run("update", model, *changes, "--missing", "zeros")


def test_the_target_is_checked_before_the_work(model, tmp_path, monkeypatch):
    (tmp_path / "gone.csv").write_text("id\np1\n")
    (tmp_path / "other").mkdir()
    monkeypatch.setattr(Model, "load", None)
    changes = ["--remove-nodes", tmp_path / "gone.csv"]
    assert "is not a saved model" in run("update", model, *changes, "--keep", tmp_path / "other", fails=True)
    assert "does not exist" in run("update", model, *changes, "--keep", tmp_path / "a" / "b", fails=True)


def test_what_was_merged_is_reported():
    report = model_of(0, METHOD).update(edges=(["n1", "n1", "n2"], ["new", "new", "n2"]), missing="zeros")
    assert report.notes == (
        "new edges: 3 rows make 1 undirected edge (direction dropped; 1 repeated; 1 self-loop dropped)",
    )


def weak_features():
    """Two dense blocks with features that say nothing."""
    rng = np.random.default_rng(0)
    block = np.arange(120) % 2
    A = np.triu(rng.random((120, 120)) < np.where(block[:, None] == block, 0.15, 0.01), 1)
    return Graph((A | A.T).astype(float), rng.normal(size=(120, 4)))


def test_structural_columns_are_not_tried_for_a_model():
    graph, settings = weak_features(), Settings.of(n_hops="auto", n_clusters=2, n_threads=1)
    assert decide(Job.of(graph, settings)).job.depends_on_edges
    assert Model.build(graph, settings).settings["structure"] == "none"
    with pytest.raises(InputError, match="structure='none'"):
        Model.build(graph, Settings.of(n_hops=2, structure=8))


def test_the_command_does_not_try_structural_columns_for_a_model(tmp_path):
    graph = weak_features()
    ends = np.column_stack([graph.adjacency.rows, graph.adjacency.indices])
    pd.DataFrame(ends, columns=["source", "target"]).to_csv(tmp_path / "edges.csv", index=False)
    nodes = pd.DataFrame(graph.features.toarray(), columns=list("abcd"))
    nodes.insert(0, "id", range(120))
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    command = ["embed", tmp_path / "edges.csv", "-f", tmp_path / "nodes.csv", "--hops", "auto"]
    command += ["-o", tmp_path / "v.csv", "--keep", tmp_path / "model"]
    assert "without structural columns" in run(*command, "--structure", 8, fails=True)
    assert "not tried" in run(*command)
    assert Model.load(tmp_path / "model").settings["structure"] == "none"


@pytest.mark.parametrize(("limit", "reason"), [(1000, "these changes need"), (20_000, "full run")])
def test_an_update_stays_within_a_limit(tmp_path, monkeypatch, limit, reason):
    model_of(0, METHOD).save(tmp_path / "model")
    monkeypatch.setattr("nafs.model.updating.full_time", lambda *_: 0.0)
    small = Model.load(tmp_path / "model", n_threads=1, memory_limit=limit)
    before = small.matrix.copy()
    with pytest.raises(MemoryLimitError, match=reason):
        small.update(edges=(["n1"], ["new"]), missing="zeros")
    np.testing.assert_array_equal(small.matrix, before)
    assert (
        Model.load(tmp_path / "model", memory_limit="1GB")
        .update(edges=(["n1"], ["new"]), missing="zeros")
        .full
    )


def test_a_limit_of_the_command(model, tmp_path):
    (tmp_path / "gone.csv").write_text("id\np1\n")
    run("update", model, "--remove-nodes", tmp_path / "gone.csv", "--memory-limit", "2GB")
    assert Model.load(model).n_nodes == 29


@pytest.mark.parametrize("weighting", ["adaptive", "last"])
def test_what_all_hops_may_drop_adds_up_to_the_total(weighting):
    for hops in range(1, 21):
        later = np.ones(hops) if weighting == "last" else np.arange(hops, 0, -1) / (hops + 1)
        shown = tolerances(Method(hops, (0.5,), weighting=weighting), 1e-5) * later
        assert shown.sum() <= 1e-5 * (1 + 1e-12)


def test_columns_that_were_recognised_are_remembered(tmp_path):
    rng = np.random.default_rng(1)
    ids = np.array([f"c{i}" for i in range(40)])
    header = ["tx_id", "from_customer", "to_customer", "amount", "date"]

    def transfers(first, second):
        numbers = [f"t{i}" for i in range(len(first))]
        columns = [numbers, first, second, rng.random(len(first)).round(3), ["2024-01-01"] * len(first)]
        return pd.DataFrame(dict(zip(header, columns, strict=True)))

    transfers(rng.choice(ids, 200), rng.choice(ids, 200)).to_csv(tmp_path / "edges.csv", index=False)
    table = pd.DataFrame({"customer": ids, "a": rng.random(40), "b": rng.random(40)})
    table.to_csv(tmp_path / "nodes.csv", index=False)
    tables = [tmp_path / "edges.csv", "-f", tmp_path / "nodes.csv"]
    run("embed", *tables, "--hops", 2, "-o", tmp_path / "v.csv", "--keep", tmp_path / "model")
    transfers(["n1", "n2"], ["c1", "c2"]).to_csv(tmp_path / "new.csv", index=False)
    pd.DataFrame({"customer": ["n1", "n2"], "a": [0.1, 0.2], "b": [0.3, 0.4]}).to_csv(
        tmp_path / "more.csv", index=False
    )
    changes = ["--edges", tmp_path / "new.csv", "-f", tmp_path / "more.csv"]
    output = run("update", tmp_path / "model", *changes)
    assert "source = 'from_customer', target = 'to_customer'" in output
    assert "named as when the model was built" in output
    assert "2 new" in output
    assert "(100 %) recomputed" in output


def test_new_nodes_need_features_unless_zeros_are_allowed():
    model = model_of(0, METHOD)
    with pytest.raises(InputError, match=r"1 new node.*'new'.*missing='zeros'"):
        model.update(edges=(["n1"], ["new"]))
    with pytest.raises(InputError, match="'n3'"):  # removed, and back without its features
        model.update(remove_nodes=["n3"], edges=(["n1"], ["n3"]))
    assert model.update(edges=(["n1"], ["new"]), missing="zeros").new == 1


@pytest.fixture
def shop(tmp_path):
    """A model of a table with a date, a category, and a number that may be missing."""
    ids = [f"c{i}" for i in range(24)]
    pd.DataFrame({"source": ids, "target": ids[1:] + ids[:1]}).to_csv(tmp_path / "edges.csv", index=False)
    days = pd.date_range("2023-01-01", periods=24, freq="9D").strftime("%Y-%m-%d")
    sizes = [None, *range(1, 24)]
    plans = ["basic", "pro"] * 12
    pd.DataFrame({"id": ids, "signup": days, "plan": plans, "revenue": sizes}).to_csv(
        tmp_path / "nodes.csv", index=False
    )
    tables = [tmp_path / "edges.csv", "-f", tmp_path / "nodes.csv"]
    run("embed", *tables, "--hops", 1, "-o", tmp_path / "v.csv", "--keep", tmp_path / "shop")
    return tmp_path / "shop"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('new,2023-02-01,pro,"1.234,5"', "row 2, column 'revenue': '1.234,5' is not a number"),
        ("new,2023-02-01,pro,many", "'many' is not a number"),
        ("new,2023-02-01,pro,inf", "'inf' is not a number"),
        (
            "new,01/02/2023,pro,5",
            "column 'signup': '01/02/2023' is not a date in the model's format (%Y-%m-%d)",
        ),
    ],
)
def test_new_values_that_cannot_be_read_are_errors(shop, tmp_path, row, message):
    (tmp_path / "rows.csv").write_text(f"id,signup,plan,revenue\nc1,2023-01-01,pro,7\n{row}\n")
    assert message in run("update", shop, "-f", tmp_path / "rows.csv", fails=True)


def test_missing_values_are_allowed_and_unknown_categories_are_named(shop, tmp_path):
    (tmp_path / "rows.csv").write_text("id,signup,plan,revenue\nnew,,gold,n/a\nc1,2023-01-01,pro,7\n")
    output = run("update", shop, "-f", tmp_path / "rows.csv")
    assert "column 'plan': 'gold' not among the model's categories" in output
    model = Model.load(shop)
    row = {"signup": "2023-01-01", "plan": "gold", "revenue": 7.0}
    with pytest.warns(UserWarning, match="gold"):
        model.embed_new(row, ["c1"])
    with pytest.raises(InputError, match="row 1, column 'revenue'"):
        model.embed_new({**row, "revenue": "many"}, ["c1"])


def test_a_word_among_plain_numbers_is_named(model, tmp_path):
    (tmp_path / "rows.csv").write_text("id,a,b\np1,1,2\np2,1,many\n")
    assert "row 2, column 'b': 'many'" in run("update", model, "-f", tmp_path / "rows.csv", fails=True)


def test_ids_that_become_text_are_reported():
    ring = np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1)
    model = Model.build(Graph(ring, np.eye(5), ids=[10, 11, 12, 13, 14]), METHOD, n_threads=1)
    assert not any("text" in note for note in model.update(edges=([10], [12])).notes)
    report = model.update(edges=([10], ["new"]), missing="zeros")
    assert any("a new id is text" in note for note in report.notes)
    assert model.ids.tolist()[0] == "10"


def test_a_table_of_nodes_passed_as_edges_is_spotted(shop, tmp_path):
    output = run("update", shop, "--edges", tmp_path / "nodes.csv", fails=True)
    assert "nodes.csv has the columns of the model's nodes: is it meant for features?" in output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("paper\nzzz\n", "remove_nodes: unknown id 'zzz'"),  # the name of the model's own column of ids
        ("node\nzzz\n", "remove_nodes: unknown id 'zzz'"),  # a usual name
        ("zzz\n", "remove_nodes: unknown id 'zzz'"),
        ("zzz\nyyy\n", "remove_nodes: 2 unknown ids: 'zzz', 'yyy'"),
        ("paper_id\np2\np3\n", None),  # a header above known ids
        ("zzz\np2\np3\n", "'zzz' in the first line is no known id"),  # perhaps mistyped
        ("zzz,why\np2,old\np3,old\n", "'zzz' in the first line is no known id"),
        ("p99-node\np2\np3\n", "'p99-node' in the first line is no known id"),
        ("name\n", None),  # a node
        ("name\n7\n", None),  # nodes, although words above numbers are usually a header
    ],
)
def test_known_ids_decide_whether_a_list_of_nodes_has_a_header(tmp_path, text, message):
    ids = [*(f"p{i}" for i in range(20)), "name", "7"]
    ring = pd.DataFrame({"source": ids, "target": np.roll(ids, 1)})
    ring.to_csv(tmp_path / "edges.csv", index=False)
    pd.DataFrame({"paper": ids, "a": np.arange(22.0)}).to_csv(tmp_path / "nodes.csv", index=False)
    tables = [tmp_path / "edges.csv", "-f", tmp_path / "nodes.csv", "--hops", 1]
    run("embed", *tables, "-o", tmp_path / "v.csv", "--keep", tmp_path / "model")
    (tmp_path / "gone.csv").write_text(text)
    output = run("update", tmp_path / "model", "--remove-nodes", tmp_path / "gone.csv", fails=bool(message))
    if message is None:
        gone = {*text.split()} & {*ids}
        assert {*ids} - {*Model.load(tmp_path / "model").id_array.to_pylist()} == gone
    else:
        assert message in output


def test_a_header_of_the_first_tables_says_nothing_about_lists_of_nodes(tmp_path):
    ids = np.arange(10, 40)
    ring = pd.DataFrame({"source": ids, "target": np.roll(ids, 1)})
    ring.to_csv(tmp_path / "edges.csv", index=False)
    pd.DataFrame({"id": ids, "a": np.arange(30.0)}).to_csv(tmp_path / "nodes.csv", index=False)
    tables = [tmp_path / "edges.csv", "-f", tmp_path / "nodes.csv", "--hops", 1, "--header"]
    run("embed", *tables, "-o", tmp_path / "v.csv", "--keep", tmp_path / "model")
    (tmp_path / "gone.csv").write_text("11\n12\n")
    run("update", tmp_path / "model", "--remove-nodes", tmp_path / "gone.csv")
    assert Model.load(tmp_path / "model").n_nodes == 28
    (tmp_path / "gone.csv").write_text("1O\n13\n14\n")  # the letter O
    output = run("update", tmp_path / "model", "--remove-nodes", tmp_path / "gone.csv", fails=True)
    assert "'1O' in the first line is no known id" in output


def test_a_first_line_that_may_be_a_mistyped_id_is_refused_until_the_user_says(model, tmp_path):
    (tmp_path / "gone.csv").write_text("zzz\np1\np3\n")
    removal = ["update", model, "--remove-nodes", tmp_path / "gone.csv"]
    assert "name it as the id column: id_column='zzz'" in run(*removal, fails=True)
    assert "unknown id 'zzz'" in run(*removal, "--no-header", fails=True)
    run(*removal, "--id", "zzz")
    assert not {"p1", "p3"} & {*Model.load(model).id_array.to_pylist()}


def test_the_tables_of_one_update_may_call_their_ids_differently(tmp_path, model):
    (tmp_path / "gone.csv").write_text("Kunde\np1\n")
    row = pd.read_csv(tmp_path / "nodes.csv").iloc[[2]]
    row.to_csv(tmp_path / "changed.csv", index=False)
    tables = ["-f", tmp_path / "changed.csv", "--remove-nodes", tmp_path / "gone.csv"]
    output = run("update", model, *tables, "--id", "Kunde")
    assert "id = 'Kunde'" in output
    assert Model.load(model).n_nodes == 29


class TestFrames:
    """Updates from data frames, without files."""

    @pytest.fixture
    def ring(self):
        ids = [f"{i:04}" for i in range(30)]
        edges = pd.DataFrame({"sender": ids, "receiver": np.roll(ids, 1)})
        nodes = pd.DataFrame({"id": ids, "age": np.arange(30.0), "size": np.arange(30.0)[::-1]})
        return Model.build(from_edges(edges, nodes), 2, n_threads=1)

    def test_are_read_like_pairs(self, ring):
        edges = pd.DataFrame({"sender": ["x"], "receiver": ["0003"]})
        report = ring.update(edges=edges, features=pd.DataFrame({"id": ["x"], "age": [1.0], "size": [2.0]}))
        assert (report.new, ring.n_nodes) == (1, 31)
        assert ring.update(remove_edges=edges).changed == 2
        assert ring.update(remove_nodes=pd.DataFrame({"Kunde": ["0011", "0012"]})).removed == 2
        assert ring.update(features=pd.DataFrame({"id": ["0004"], "size": [5.0], "age": [7.0]})).new == 0

    def test_name_their_ids_by_a_header_if_several_columns_may_hold_them(self, ring):
        twins = pd.DataFrame({"one": ["0003"], "two": ["0004"], "age": [1.0], "size": [2.0]})
        with pytest.raises(InputError, match="name the right column with the header 'id'"):
            ring.update(features=twins)
        assert ring.update(features=twins.rename(columns={"two": "id"})).changed == 1

    def test_that_lack_a_column_are_refused(self, ring):
        with pytest.raises(InputError, match="lack 'size', which the model was built from"):
            ring.update(features=pd.DataFrame({"id": ["0003"], "age": [1.0]}))

    def test_with_the_ids_in_the_index(self, ring):
        rows = pd.DataFrame({"id": ["0003"], "age": ["0007"]}).set_index("id")
        ring.update(remove_nodes=rows)
        assert "0003" not in ring.ids
        assert "0007" in ring.ids

    def test_whose_ids_contradict_those_beside_them_are_refused(self, ring):
        row = pd.DataFrame({"id": ["0004"], "age": [7.0], "size": [5.0]})
        with pytest.raises(InputError, match=r"holds other ids \('0004'\) than were passed"):
            ring.update(features=(["0005"], row))
        assert ring.update(features=(["0004"], row)).changed == 1

    def test_with_lost_zeros_do_not_add_nodes(self, ring):
        with pytest.raises(InputError, match="leading zeros only"):
            ring.update(features=pd.DataFrame({"id": [4, 5], "age": [7.0, 7.0], "size": [5.0, 5.0]}))
        with pytest.raises(InputError, match="unknown id '4'; did you mean '0004'"):
            ring.update(remove_nodes=["4"])
        assert ring.n_nodes == 30
