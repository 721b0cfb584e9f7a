"""`nafs demo --tables` does every job of the tutorial."""

import csv

from command import run

from nafs import Embedding


def test_the_demo_does_every_job(tmp_path, capsys):
    folder = tmp_path / "demo"
    assert run("demo", "--tables", "-o", folder) == 0
    shown = capsys.readouterr()
    for job in ("describe", "cluster", "classify", "suggest-links", "embed", "similar", "update"):
        assert f"$ nafs {job} {folder}" in shown.out
    assert "  title: text, TF-IDF of" in shown.err
    assert "accuracy on held-out labels" in shown.err
    with (folder / "topics.csv").open() as file:
        topics = {row["paper"]: row["predicted"] for row in csv.DictReader(file)}
    with (folder / "all_topics.csv").open() as file:
        truth = {row["paper"]: row["topic"] for row in csv.DictReader(file)}
    assert sum(topics[paper] == truth[paper] for paper in topics) > 0.9 * len(topics)
    updated = Embedding.load(folder / "updated.parquet")
    assert "P246" in list(updated.ids)
    assert len(updated.ids) == len(Embedding.load(folder / "papers.parquet").ids) + 6
    assert run("demo", "--tables", "-o", folder) == 2
    assert "exists already" in capsys.readouterr().err
    (folder / "mine.txt").write_text("keep")
    assert run("demo", "--tables", "-o", folder, "--force") == 2
    assert "mine.txt" in capsys.readouterr().err
    assert run("demo", "--tables", "--json") == 2
