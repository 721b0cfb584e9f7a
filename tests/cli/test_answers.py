"""Answers about nodes, printed and written: the same names in both."""

import csv
import io
import json

import pytest
from command import run

NODES = 30


def write_tables(place, key):
    """A ring of two halves, each with its own word and two labels."""
    nodes = [f"n{i},{'red' if i < NODES // 2 else 'blue'},{i % 7}" for i in range(NODES)]
    (place / "nodes.csv").write_text("\n".join([f"{key},colour,size", *nodes]))
    edges = [f"n{i},n{(i + step) % NODES}" for i in range(NODES) for step in (1, 2)]
    (place / "edges.csv").write_text("\n".join(["source,target", *edges]))
    labels = [f"n{i},{'x' if i < NODES // 2 else 'y'}" for i in range(0, NODES, 3)]
    (place / "few.csv").write_text("\n".join(["id,kind", *labels]))


def classified(place, capsys, key):
    write_tables(place, key)
    words = ("classify", "edges.csv", "-f", "nodes.csv", "--labels", "few.csv", "--hops", "2")
    assert run(*words, "--json") == 0
    records = json.loads(capsys.readouterr().out)
    assert run(*words, "--csv", "-q") == 0
    header, *lines = csv.reader(io.StringIO(capsys.readouterr().out))
    assert run(*words, "-o", "out.csv", "-q") == 0
    with (place / "out.csv").open() as file:
        written = list(csv.DictReader(file))
    assert [record[key] for record in records] == [row[key] for row in written]
    assert list(records[0]) == header
    assert [line[0] for line in lines] == [row[key] for row in written]
    assert set(header) <= set(written[0])
    return header


def test_printed_ids_have_the_name_that_the_file_has(place, capsys):
    assert classified(place, capsys, "user") == ["user", "predicted", "probability", "label"]


def test_ids_with_the_name_of_an_answer_keep_it(place, capsys):
    assert classified(place, capsys, "predicted") == ["predicted", "nafs_predicted", "probability", "label"]


def test_ids_without_a_name_are_called_id(place, capsys):
    write_tables(place, "user")
    (place / "nodes.csv").write_text((place / "nodes.csv").read_text().partition("\n")[2])
    words = ("classify", "edges.csv", "-f", "nodes.csv", "--labels", "few.csv", "--hops", "2")
    assert run(*words, "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == "n0"
    assert run(*words, "-o", "out.jsonl", "-q") == 0
    written = json.loads((place / "out.jsonl").read_text().splitlines()[0])
    assert list(written) == ["id", "column2", "column3", "predicted", "probability", "label"]


@pytest.mark.parametrize("edges", ["edges.mtx", "g"])
def test_nodes_of_a_matrix_or_a_saved_graph_are_named_by_the_table(place, capsys, edges):
    write_tables(place, "user")
    if edges == "g":
        assert run("convert", "edges.csv", "g", "-q") == 0
    else:
        rows = [f"{i + 1} {(i + step) % NODES + 1}" for i in range(NODES) for step in (1, 2)]
        head = "%%MatrixMarket matrix coordinate pattern general"
        (place / "edges.mtx").write_text("\n".join([head, f"{NODES} {NODES} {len(rows)}", *rows]) + "\n")
    words = ("classify", edges, "-f", "nodes.csv", "--labels", "few.csv", "--hops", "2", "--json")
    assert run(*words) == 0
    assert json.loads(capsys.readouterr().out)[0]["user"] == "n0"


def test_clusters_are_described_for_people_and_listed_by_node_for_programs(place, capsys):
    write_tables(place, "user")
    words = ("cluster", "edges.csv", "-f", "nodes.csv", "-k", "2", "-q")
    assert run(*words) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["cluster", "name", "size"]
    assert len(lines) == 2
    assert run(*words, "-o", "out.csv") == 0
    assert capsys.readouterr().out == ""
    with (place / "out.csv").open() as file:
        written = [(row["user"], row["cluster"], row["cluster_name"]) for row in csv.DictReader(file)]
    assert run(*words, "--csv", "--describe", "about.csv") == 0
    printed = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert printed[0] == ["user", "cluster", "cluster_name"]
    assert [tuple(line) for line in printed[1:]] == written
    assert (place / "about.csv").read_text() == (place / "out.clusters.csv").read_text()
    assert run(*words, "--json") == 0
    records = json.loads(capsys.readouterr().out)
    assert [(row["user"], str(row["cluster"]), row["cluster_name"]) for row in records] == written


def test_a_file_that_describes_clusters_takes_the_place_of_the_printed_table(place, capsys):
    write_tables(place, "user")
    assert run("cluster", "edges.csv", "-f", "nodes.csv", "-k", "2", "-q", "--describe", "about.csv") == 0
    assert capsys.readouterr().out == ""
    assert len((place / "about.csv").read_text().splitlines()) == 3


def test_an_existing_description_of_clusters_is_named_as_such(place, capsys):
    """Nobody asked for this file, so the error says what it is and how to go on."""
    write_tables(place, "user")
    words = ("cluster", "edges.csv", "-f", "nodes.csv", "-k", "2", "--hops", "2", "-q")
    (place / "out.clusters.csv").write_text("mine")
    assert run(*words, "-o", "out.csv") == 2
    message = capsys.readouterr().err
    assert "out.clusters.csv exists already; the table that describes the clusters of out.csv" in message
    assert "with --describe, or overwrite it with --force" in message
    assert run(*words, "--csv") == 0, "nothing is written"
    assert run(*words, "-o", "out.csv", "--describe", "about.csv") == 0
    assert (place / "out.clusters.csv").read_text() == "mine"
    assert run(*words, "-o", "out.csv", "--force") == 0
    assert (place / "out.clusters.csv").read_text() != "mine"


def test_the_folder_of_a_model_stands_for_its_embedding(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path, "id")
    assert run("embed", "edges.csv", "-f", "nodes.csv", "--hops", "2", "-o", "v.csv", "--keep", "model") == 0
    capsys.readouterr()
    answers = []
    for source in ("v.csv", "model"):
        assert run("similar", source, "n3", "-k", "2", "--json") == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]


def test_an_unknown_node_is_refused_before_the_graph_is_embedded(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path, "id")
    monkeypatch.setattr("nafs.cli.suggest_links.embed", None)
    assert run("suggest-links", "edges.csv", "--node", "N03") == 2
    assert "unknown id 'N03'; did you mean 'n3'?" in capsys.readouterr().err


def test_suggestions_between_nodes_without_features_are_counted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path, "id")
    rows = (tmp_path / "nodes.csv").read_text().split("\n")
    kept = [row for i, row in enumerate(rows[1:]) if i % 4 < 2]
    (tmp_path / "nodes.csv").write_text("\n".join([rows[0], *kept]))
    words = ("suggest-links", "edges.csv", "-f", "nodes.csv", "--missing", "zeros", "--hops", "2", "-k", "9")
    words += ("--score", "cosine")
    assert run(*words, "--json") == 0
    pairs = json.loads(capsys.readouterr().out)
    known = {row.split(",")[0] for row in kept}
    empty = sum(not {pair["source"], pair["target"]} & known for pair in pairs)
    assert empty
    run(*words)
    assert f"{empty} of the 9 pairs are nodes without features" in " ".join(capsys.readouterr().err.split())
