"""Which column means what: found by name or by shared values, refused in doubt, always reported."""

import uuid

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from nafs import Graph, from_edges, from_igraph, from_networkx, read_graph
from nafs._support.errors import InputError

PAIRS = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0]})
USERS = pd.DataFrame({"user": [2, 0, 1], "age": [30.0, 20.0, 40.0]})
AGES = {2: 30.0, 0: 20.0, 1: 40.0}


def ages(graph):
    assert graph.feature_names == ("age",)
    return dict(zip(graph.ids.tolist(), graph.features.dense[:, 0].tolist(), strict=True))


class TestLeftoverIndex:
    """The row numbers that sorting and filtering leave behind are not ids."""

    @pytest.mark.parametrize("nodes", [USERS, USERS.sort_values("age"), USERS[::-1], USERS.iloc[[1, 2, 0]]])
    def test_of_a_frame(self, nodes):
        graph = from_edges(PAIRS, nodes)
        assert ages(graph) == AGES
        assert "id = 'user'" in graph.notes[0]

    @pytest.mark.parametrize("nodes", [USERS.sort_values("age"), USERS[::-1]])
    @pytest.mark.parametrize("ending", ["parquet", "csv"])
    def test_of_a_frame_that_went_through_a_file(self, tmp_path, nodes, ending):
        PAIRS.to_csv(tmp_path / "e.csv", index=False)
        getattr(nodes, f"to_{ending}")(tmp_path / f"n.{ending}")
        assert ages(read_graph(tmp_path / "e.csv", tmp_path / f"n.{ending}")) == AGES

    def test_filtered(self, tmp_path):
        more = pd.DataFrame({"user": [7, 2, 0, 1, 9], "age": [1.0, 30.0, 20.0, 40.0, 2.0]})
        nodes = more[more.age > 10]
        assert ages(from_edges(PAIRS, nodes)) == AGES
        assert ages(Graph(np.ones((3, 3)), ids=[1, 0, 2]).with_features(nodes)) == AGES
        nodes.to_parquet(tmp_path / "n.parquet")
        PAIRS.to_parquet(tmp_path / "e.parquet")
        assert ages(read_graph(tmp_path / "e.parquet", tmp_path / "n.parquet")) == AGES

    @pytest.mark.parametrize("name", ["user", None])
    @pytest.mark.parametrize("through", ["frame", "parquet", "csv"])
    def test_an_index_with_a_name_or_of_words_is_the_ids(self, tmp_path, name, through):
        words = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
        nodes = pd.DataFrame({"age": [3.0, 1.0, 2.0]}, index=pd.Index(["c", "a", "b"], name=name))
        if through == "frame":
            graph = from_edges(words, nodes)
        else:
            words.to_csv(tmp_path / "e.csv", index=False)
            getattr(nodes, f"to_{through}")(tmp_path / f"n.{through}")
            graph = read_graph(tmp_path / "e.csv", tmp_path / f"n.{through}")
        assert ages(graph) == {"c": 3.0, "a": 1.0, "b": 2.0}

    @pytest.mark.parametrize("through", ["frame", "parquet"])
    def test_a_range_with_a_name_is_the_ids(self, tmp_path, through):
        nodes = pd.DataFrame({"age": [20.0, 40.0, 30.0]}, index=pd.RangeIndex(3, name="user"))
        if through == "frame":
            graph = from_edges(PAIRS, nodes)
        else:
            PAIRS.to_parquet(tmp_path / "e.parquet")
            nodes.to_parquet(tmp_path / "n.parquet")
            graph = read_graph(tmp_path / "e.parquet", tmp_path / "n.parquet")
        assert ages(graph) == AGES


class TestIdColumn:
    def test_by_overlap_with_the_edges(self, tmp_path):
        nodes = pd.DataFrame({"age": [30, 20, 40], "user": ["c", "a", "b"], "city": [100, 101, 102]})
        edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
        graph = from_edges(edges, nodes)
        assert graph.ids.tolist() == ["c", "a", "b"]
        assert graph.feature_names == ("age", "city")
        edges.to_csv(tmp_path / "e.csv", index=False)
        nodes.to_csv(tmp_path / "n.csv", index=False)
        assert read_graph(tmp_path / "e.csv", tmp_path / "n.csv").ids.tolist() == ["c", "a", "b"]

    @pytest.mark.parametrize("through", ["frame", "parquet", "csv"])
    def test_doubt_names_the_choices(self, tmp_path, through):
        nodes = pd.DataFrame({"rank": [1, 0, 2], "user": [2, 0, 1], "age": [30.5, 20.5, 40.5]})

        def build(**options):
            if through == "frame":
                return from_edges(PAIRS, nodes, **options)
            PAIRS.to_csv(tmp_path / "e.csv", index=False)
            getattr(nodes, f"to_{through}")(tmp_path / f"n.{through}", index=False)
            return read_graph(tmp_path / "e.csv", tmp_path / f"n.{through}", **options)

        with pytest.raises(InputError, match=r"'rank' and 'user' .*id_column") as caught:
            build()
        assert caught.value.parameter == "id_column"
        assert build(id_column="user").ids.tolist() == [2, 0, 1]

    def test_no_column_holds_the_ids(self, tmp_path):
        nodes = pd.DataFrame({"p": ["x", "y"], "q": [1.5, 2.5]})
        with pytest.raises(InputError, match=r"no column .* ids of the edges .*id_column"):
            from_edges((["a"], ["b"]), nodes)
        (tmp_path / "e.csv").write_text("a,b\nb,c\n")
        nodes.to_csv(tmp_path / "n.csv", index=False)
        with pytest.raises(InputError, match=r"n\.csv: no column .* ids of the edges"):
            read_graph(tmp_path / "e.csv", tmp_path / "n.csv")

    def test_the_index_can_be_named_as_the_ids(self):
        nodes = pd.DataFrame({"rank": [1, 0, 2], "age": [30.5, 20.5, 40.5]}, index=[2, 0, 1])
        graph = from_edges(PAIRS, nodes, id_column="index")
        assert graph.ids.tolist() == [2, 0, 1]
        assert graph.feature_names == ("rank", "age")


class TestWithFeatures:
    graph = Graph(np.ones((3, 3)), ids=["a", "b", "c"])

    def test_rows_are_matched_by_id(self):
        table = pd.DataFrame({"user": ["c", "a", "b"], "age": [3.0, 1.0, 2.0]})
        for nodes in (table, table.sort_values("age"), table.set_index("user"), pa.table(table)):
            joined = self.graph.with_features(nodes)
            assert joined.features.dense.tolist() == [[1], [2], [3]]
            assert joined.feature_names == ("age",)
        by_number = Graph(np.ones((3, 3))).with_features(USERS.sort_values("age"))
        assert by_number.features.dense.tolist() == [[20], [40], [30]]

    def test_rows_without_ids_stand_in_order(self):
        table = pd.DataFrame({"p": [1.5, 2.5, 3.5]})
        joined = self.graph.with_features(table)
        assert joined.features.dense.tolist() == [[1.5], [2.5], [3.5]]
        assert any("order of the nodes" in note for note in joined.notes)
        with pytest.raises(InputError, match="id_column"):
            self.graph.with_features(table.iloc[[2, 0, 1]])
        with pytest.raises(InputError, match="2 rows"):
            self.graph.with_features(table[:2])

    def test_ids_can_be_named(self):
        table = pd.DataFrame({"p": ["c", "a", "b"], "q": ["a", "b", "c"], "v": [3, 1, 2]})
        with pytest.raises(InputError, match=r"'p' and 'q'"):
            self.graph.with_features(table)
        joined = self.graph.with_features(table.drop(columns="q"), id_column="p")
        assert joined.features.dense.tolist() == [[1], [2], [3]]

    def test_a_node_without_a_row_is_refused(self):
        with pytest.raises(InputError, match=r"1 of 3 nodes .*'b'"):
            self.graph.with_features(pd.DataFrame({"id": ["a", "c"], "v": [1, 2]}))


TRANSACTIONS = pd.DataFrame(
    {
        "tx_id": [1, 2, 3, 4],
        "Sender": ["a", "b", "c", "a"],
        "RECEIVER": ["b", "c", "a", "b"],
        "amount": [5.0, 6.0, 7.0, 8.0],
        "time": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"],
    }
)


ACCOUNTS = pd.DataFrame(
    {"nr": [1, 2, 3, 4], "konto": [1, 2, 3, 1], "ziel": [2, 3, 1, 3], "b": [5.5, 5.5, 5.5, 5.5]}
)


def edge_readings(tmp_path, frame):
    """The same table through every way in."""
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    yield lambda **options: from_edges(frame, **options)
    yield lambda **options: from_edges(frame.iloc[::-1], **options)
    yield lambda **options: read_graph(tmp_path / "t.csv", **options)
    yield lambda **options: read_graph(tmp_path / "t.parquet", **options)


class TestEdgeColumns:
    def test_transactions(self, tmp_path):
        for read in edge_readings(tmp_path, TRANSACTIONS):
            graph = read()
            assert sorted(graph.ids.tolist()) == ["a", "b", "c"]
            assert graph.n_edges == 3
            assert graph.adjacency.weights is None
            line = graph.notes[0]
            assert "source = 'Sender'" in line
            assert "target = 'RECEIVER'" in line
            assert "not used: 'tx_id', 'amount', 'time'" in line
            assert "4 rows" in line
            assert "3 undirected edges" in line

    @pytest.mark.parametrize(
        "names",
        [
            *("from/to", "src/dst", "FROM_USER/TO_USER", "follower/followee", "user/item", "citing/cited"),
            *("parent/child", "Sender/Receiver", "SourceNode/TargetNode", "node_1/node_2", "user_id/item_id"),
        ],
    )
    def test_usual_names(self, tmp_path, names):
        a, b = names.split("/")
        frame = pd.DataFrame({"k": [9, 8, 7], b: ["b", "d", "c"], a: ["a", "a", "b"]})
        for read in edge_readings(tmp_path, frame):
            assert f"source = '{a}', target = '{b}'" in read().notes[0]

    def test_by_shared_values(self, tmp_path):
        frame = TRANSACTIONS.rename(columns={"Sender": "konto", "RECEIVER": "ziel", "amount": "betrag"})
        for read in edge_readings(tmp_path, frame):
            assert "source = 'konto', target = 'ziel'" in read().notes[0]

    def test_a_doubtful_guess_is_refused(self, tmp_path):
        frame = pd.DataFrame(
            {"nr": [1, 2, 3, 4], "konto": [1, 2, 3, 1], "ziel": [2, 3, 1, 3], "b": [5.5] * 4}
        )
        for read in edge_readings(tmp_path, frame):
            with pytest.raises(InputError, match=r"'nr', 'konto', 'ziel', 'b'") as caught:
                read()
            assert caught.value.parameter == "source"
            assert read(source="konto", target="ziel").n_edges == 3
        two = pd.DataFrame({"source": ["a"], "target": ["b"], "sender": ["a"], "receiver": ["b"]})
        for read in edge_readings(tmp_path, two):
            with pytest.raises(InputError, match="more than one pair"):
                read()

    def test_one_end_named(self, tmp_path):
        for read in edge_readings(tmp_path, TRANSACTIONS):
            assert "target = 'RECEIVER'" in read(source="Sender").notes[0]
        frame = pd.DataFrame(
            {"nr": [1, 2, 3, 4], "konto": [1, 2, 3, 1], "ziel": [2, 3, 1, 3], "b": [5.5] * 4}
        )
        for read in edge_readings(tmp_path, frame):
            with pytest.raises(InputError, match="target"):
                read(source="konto")

    @pytest.mark.parametrize(
        "nodes",
        [
            pd.DataFrame({"id": [1, 2, 3], "age": [30, 20, 40], "label": ["x", "y", "x"]}),
            pd.DataFrame({"user": ["a", "b", "c"], "age": [30, 20, 40]}),
            pd.DataFrame({"node_id": [1, 2, 3], "degree": [1, 2, 1], "size": [2, 3, 1]}),
            pd.DataFrame({"name": ["a", "b", "c"], "city": ["x", "y", "x"], "age": [1, 2, 3]}),
        ],
    )
    def test_a_table_of_nodes_is_refused(self, tmp_path, nodes):
        for read in edge_readings(tmp_path, nodes):
            with pytest.raises(InputError, match=r"source and target"):
                read()

    def test_without_names(self, tmp_path):
        path = tmp_path / "t.txt"
        path.write_text("1 10 20 5\n2 20 30 6\n3 10 30 7\n")
        with pytest.raises(InputError, match="source and target"):
            read_graph(path)
        assert read_graph(path, source=2, target=3).n_edges == 3
        path.write_text("10 20 0.5\n20 30 0.5\n10 30 1\n")
        assert read_graph(path).adjacency.weights is not None
        path.write_text("1 2 4 881250949\n1 3 5 881250950\n2 1 3 881250951\n")
        assert "source = 'column1', target = 'column2'" in read_graph(path).notes[0]

    def test_ids_of_two_kinds_that_meet_are_pointed_out(self):
        graph = from_edges({"user": [1, 1, 2], "item": [1, 2, 7]})
        assert any("'user' and 'item' share 2 ids" in note for note in graph.notes)
        graph = from_edges({"user": ["u1", "u2"], "item": ["i1", "i1"]})
        assert not any("share" in note for note in graph.notes)


class TestReport:
    def test_what_was_merged_and_dropped(self, tmp_path):
        frame = pd.DataFrame(
            [
                ("a", "b", 1.5),
                ("a", "b", 2.0),
                ("b", "a", 3.0),
                ("b", "c", 1.0),
                ("c", "c", 4.0),
                ("a", "c", 0.0),
            ],
            columns=["source", "target", "weight"],
        )
        for read in edge_readings(tmp_path, frame):
            graph = read()
            line = graph.notes[0]
            assert "6 rows make 2 undirected edges" in line
            assert "1 repeated" in line
            assert "weights added" in line
            assert "1 in both directions" in line
            assert "larger weight" in line
            assert "1 self-loop dropped" in line
            assert "1 of weight 0 dropped" in line
            assert sorted(graph.adjacency.weights.tolist()) == [1, 1, 3.5, 3.5]
            line = read(directed=True).notes[0]
            assert "6 rows make 3 directed edges" in line
            assert "both directions" not in line
            assert "1 repeated" in read(weight=False).notes[0]

    @pytest.mark.parametrize("limit", [None, "200MB"])
    def test_the_same_on_disk(self, tmp_path, monkeypatch, limit):
        monkeypatch.setattr("nafs.readers.database._SMALL", 0)
        monkeypatch.setattr("nafs.readers.size.IN_TABLES", 10**9)
        frame = pd.DataFrame([(1, 2), (1, 2), (2, 1), (3, 3), (2, 3)], columns=["source", "target"])
        frame.to_parquet(tmp_path / "e.parquet")
        line = read_graph(tmp_path / "e.parquet", memory_limit=limit).notes[0]
        assert "5 rows make 2 undirected edges" in line
        assert "1 repeated" in line
        assert "1 in both directions" in line
        assert "1 self-loop dropped" in line

    def test_nodes_and_labels(self, tmp_path):
        (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\n")
        (tmp_path / "n.csv").write_text("id,x,y2,junk\na,1,2,q\nb,3,4,q\nc,5,6,q\n")
        (tmp_path / "y.csv").write_text("id,team\na,red\nb,red\nc,blue\n")
        line = read_graph(tmp_path / "e.csv", tmp_path / "n.csv", tmp_path / "y.csv", ignore=["junk"]).notes[
            0
        ]
        assert "n.csv: id = 'id', 2 features ('x', 'y2'), not used: 'junk'" in line
        assert "y.csv: id = 'id', label = 'team'" in line
        assert "\n" not in line

    def test_of_other_libraries(self):
        graph = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")])
        nx.set_edge_attributes(graph, 2.0, "weight")
        line = from_networkx(graph).notes[0]
        assert "weight = 'weight'" in line
        assert "1 in both directions" in line


class TestMissingAttributes:
    def test_networkx(self):
        graph = nx.Graph([("a", "b"), ("b", "c")])
        graph.nodes["a"].update(p=1, q=2)
        graph.nodes["b"].update(p=3, q=None)
        graph.nodes["c"].update(p=4, q=float("nan"))
        with pytest.raises(InputError, match="'c'"):
            from_networkx(graph, features=["p", "q"])
        graph.nodes["c"].update(q=5)
        with pytest.raises(InputError, match=r"'q' is missing .*'b'.*missing='zeros'"):
            from_networkx(graph, features=["p", "q"])
        with pytest.warns(UserWarning, match=r"'q' is missing in 1 of 3 nodes .*'b'"):
            joined = from_networkx(graph, features=["p", "q"], missing="zeros")
        assert joined.features.dense.tolist() == [[1, 2], [3, 0], [4, 5]]
        assert any("'q' is missing" in note for note in joined.notes)
        graph.nodes["c"].update(q=float("nan"))
        with pytest.warns(UserWarning, match=r"'q' is missing in 2 of 3 nodes"):
            joined = from_networkx(graph, features=["p", "q"], missing="zeros")
        assert joined.features.dense.tolist() == [[1, 2], [3, 0], [4, 0]]
        graph.nodes["c"].update(q="red")
        with pytest.raises(InputError, match=r"node 'c' are not numbers.*nafs\.from_edges"):
            from_networkx(graph, features=["p", "q"], missing="zeros")

    def test_a_node_without_any_of_them(self):
        graph = nx.Graph([("a", "b"), ("b", "c")])
        nx.set_node_attributes(graph, {"a": 1.0, "b": None, "c": 2.0}, "age")
        message = r"the feature 'age' is missing in 1 of 3 nodes \('b'\); fill it in, .*missing='zeros'"
        with pytest.raises(InputError, match=message):
            from_networkx(graph, features="age")
        with pytest.warns(UserWarning, match=r"1 of 3 nodes have no features and get zeros \('b'\)"):
            assert from_networkx(graph, features="age", missing="zeros").features.dense[1] == 0

    def test_weights(self):
        import igraph

        graph = nx.Graph()
        graph.add_edge("a", "b", weight=2.0)
        graph.add_edge("b", "c")
        assert any(
            "1 of 2 edges have no weight and get weight 1" in note for note in from_networkx(graph).notes
        )
        graph.edges["b", "c"]["weight"] = None
        assert any(
            "1 of 2 edges have no weight and get weight 1" in note for note in from_networkx(graph).notes
        )
        other = igraph.Graph(n=3, edges=[(0, 1), (1, 2)])
        other.es["weight"] = [2.0, None]
        assert any(
            "1 of 2 edges have no weight and get weight 1" in note for note in from_igraph(other).notes
        )


class TestBigNumbers:
    def test_one_rule_for_csv_and_parquet(self, tmp_path):
        big = [1234567890123456789, 9223372036854775807]
        frame = pd.DataFrame({"source": big, "target": [1, 2]})
        for read in edge_readings(tmp_path, frame):
            graph = read()
            assert graph.ids.dtype == np.int64
            assert set(graph.ids.tolist()) == {*big, 1, 2}
        beyond = pa.table(
            {"source": pa.array([2**63, 5], pa.uint64()), "target": pa.array([1, 2], pa.uint64())}
        )
        pa.parquet.write_table(beyond, tmp_path / "b.parquet")
        (tmp_path / "b.csv").write_text(f"source,target\n{2**63},1\n5,2\n")
        for name in ("b.parquet", "b.csv"):
            assert read_graph(tmp_path / name).ids.tolist() == [str(2**63), "1", "5", "2"]


class TestHeaders:
    def test_of_two_column_label_tables(self, tmp_path):
        (tmp_path / "e.csv").write_text("ann,bob\nbob,cy\n")
        (tmp_path / "y.csv").write_text("person,team\nann,red\nbob,blue\ncy,red\n")
        graph = read_graph(tmp_path / "e.csv", labels=tmp_path / "y.csv")
        assert graph.labels.classes == ("blue", "red")
        assert not any("no nodes" in note for note in graph.notes)
        (tmp_path / "y.csv").write_text("ann,red\nbob,blue\ncy,red\n")
        assert read_graph(tmp_path / "e.csv", labels=tmp_path / "y.csv").labels.known.all()


class TestMessages:
    @pytest.mark.parametrize(
        "text", ['[{"source": 1, "target": 2}]', '{"a": 1}\n{"a": 2}\n', ' \n {"nodes": []}']
    )
    def test_json(self, tmp_path, text):
        (tmp_path / "e.csv").write_text(text)
        with pytest.raises(InputError, match="looks like JSON"):
            read_graph(tmp_path / "e.csv")

    def test_decimal_commas(self, tmp_path):
        (tmp_path / "e.csv").write_text("a;b;0,5\nb;c;0,7\n")
        with pytest.raises(InputError, match=r"'0,5' .* decimal comma"):
            read_graph(tmp_path / "e.csv")

    def test_uuids(self):
        a, b, c = (uuid.UUID(int=i) for i in range(3))
        graph = from_edges(pd.DataFrame({"source": [a, b], "target": [b, c]}))
        assert graph.ids.tolist() == [str(a), str(b), str(c)]
        assert from_edges([(a, b), (b, c)]).ids.tolist() == [str(a), str(b), str(c)]

    def test_the_line_of_a_bad_weight(self, tmp_path):
        path = tmp_path / "e.csv"
        path.write_text('# made by hand\nsource,target,weight\na,b,1\n\n"b\nb",c,2\nc,a,-1\n')
        with pytest.raises(InputError, match=r"e\.csv, line 7 .*'c'.*'a'.*weight is -1\.0"):
            read_graph(path)
        (tmp_path / "part-1.csv").write_text("source,target,weight\na,b,1\n")
        (tmp_path / "part-2.csv").write_text("source,target,weight\na,c,1\nb,c,-3\n")
        with pytest.raises(InputError, match=r"part-2\.csv, line 3 .*weight is -3\.0"):
            read_graph(tmp_path / "part-*.csv")
        with pytest.raises(InputError, match=r"edge 1 \('a' → 'b'\): the weight is -2\.0"):
            from_edges((["a"], ["b"], [-2]))


def test_submodules_come_with_the_package():
    import subprocess
    import sys

    code = (
        "import nafs; nafs.datasets.erdos_renyi; nafs.tasks; nafs.pictures; nafs.writers;"
        "g = nafs.datasets.erdos_renyi(20, 0.2); print(nafs.structural_features(g, 8).shape)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "(20, 8)"
