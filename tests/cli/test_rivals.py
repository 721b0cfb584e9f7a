"""evaluate --rivals: the comparison on one's own graph."""

import json
from dataclasses import replace

import pytest
from command import run
from few_rivals import only_rivals

from nafs.datasets import contextual_sbm
from nafs.graph import Graph
from nafs.rivals import RIVALS


@pytest.fixture
def few():
    """Four quick rivals instead of all."""
    with only_rivals({name: RIVALS[name] for name in ("raw features", "SC", "SGC", "GCC")}):
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch, few):
    contextual_sbm(150, n_classes=3, n_features=12, signal=3.0, seed=0).save(tmp_path / "graph")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_table_and_a_chart(folder, capsys):
    assert (
        run("evaluate", "graph", "-t", "links", "--seeds", "2", "--rivals", "fast", "--chart", "c.png") == 0
    )
    output = capsys.readouterr().out
    lines = [line for line in output.splitlines() if "█" in line]
    assert {line.split("  ")[0].strip() for line in lines} == {
        "NAFS",
        "NAFS, link head",
        "raw features",
        "SGC",
        "SC",
    }
    assert (folder / "c.png").read_bytes().startswith(b"\x89PNG")


def test_rivals_can_be_named_and_their_times_are_told_before(folder, capsys):
    assert run("evaluate", "graph", "-t", "links,clustering", "--seeds", "1", "--rivals", "SGC,GCC") == 0
    output = capsys.readouterr()
    assert "links: seconds that one fit takes, roughly: under 2: NAFS, SGC\n" in output.err
    assert "clustering: seconds that one fit takes, roughly: under 2: NAFS, SGC, GCC" in output.err
    assert "raw features" not in output.out


def test_a_rival_that_takes_too_long_is_left_out_with_a_note(folder, capsys, monkeypatch):
    monkeypatch.setattr("nafs.cli.rivals.LIMIT", 30.0)
    RIVALS["SC"] = replace(RIVALS["SC"], cost=800)
    assert run("evaluate", "graph", "-t", "links", "--seeds", "1", "--rivals", "fast") == 0
    output = capsys.readouterr()
    assert "links: SC: not measured within 30 s" in output.err
    assert "SGC" in output.out


def test_json_holds_every_value(folder, capsys):
    words = ("-t", "links,classification", "--seeds", "2", "--rivals", "fast", "--json")
    assert run("evaluate", "graph", *words) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [result["task"] for result in facts["rivals"]] == ["links", "classification"]
    assert len(facts["rivals"][0]["values"]["SGC"]["AUC"]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--rivals", "some"),
            "be one of none, fast, all, raw features, SC, SGC, GCC; got 'some'",
        ),
        (("--rivals", "GCC", "-t", "links"), "GCC cannot do links, only clustering"),
        (("--chart", "c.png"), "add --rivals fast"),
        (("--rivals", "fast", "--embedding", "z.npy", "-t", "clustering"), "leave --embedding out"),
    ],
)
def test_bad_requests(folder, capsys, words, message):
    assert run("evaluate", "graph", *words) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")


def test_a_directed_graph_is_refused_before_anything_is_measured(folder, capsys):
    (folder / "edges.csv").write_text("a,b\nb,c\nc,a\n")
    assert run("evaluate", "edges.csv", "--directed", "-t", "links", "--rivals", "fast") == 2
    message = capsys.readouterr().err.replace("\n", " ")
    assert "--rivals compares on undirected graphs only; leave out --directed" in message


def test_rivals_without_labels_are_compared_by_links_alone(folder, capsys):
    graph = Graph.load(folder / "graph")
    Graph(graph.adjacency, graph.features).save(folder / "bare")
    assert run("evaluate", "bare", "--seeds", "1", "--rivals", "fast") == 0
    output = capsys.readouterr()
    assert "links: NAFS and rivals" in output.out
    assert "clustering: NAFS and rivals" not in output.out
    assert "the graph has no labels: links can be evaluated" in output.err.replace("\n", " ")
