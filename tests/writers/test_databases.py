"""The pgvector recipe of the guide, as far as this machine has PostgreSQL and the extension."""

import os
import re
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from nafs import embed, from_edges

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "vector-databases.md"


def binaries():
    """Where PostgreSQL is; the package pgserver brings one with pgvector."""
    wheel = find_spec("pgserver")
    bundled = [] if wheel is None else [Path(str(wheel.origin)).parent / "pginstall" / "bin"]
    folders = bundled + sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")])
    return None if shutil.which("initdb", path=path) is None else path


@pytest.fixture(scope="module")
def postgres():
    """A function that runs SQL in a server of its own, which listens on a socket in a temporary folder."""
    path = binaries()
    if path is None:
        pytest.skip("PostgreSQL is not installed")
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if user and shutil.which("runuser") is None:
        pytest.skip("PostgreSQL does not run as root, and there is no runuser")
    folder = Path(tempfile.mkdtemp(prefix="nafs-pg-"))  # pytest's own folders are closed to other users
    if user:
        shutil.chown(folder, "postgres")
    environment = os.environ | {"PATH": path}

    def call(*words, **options):
        return subprocess.run(
            [*user, *words],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            cwd=folder,
            **options,
        )

    call("initdb", "-D", f"{folder}/data", "-A", "trust", "--no-sync")
    options = f"-k {folder} -c listen_addresses= -c fsync=off"
    call("pg_ctl", "-D", f"{folder}/data", "-o", options, "-l", f"{folder}/log", "-w", "start")
    try:
        words = ("psql", "-h", str(folder), "-d", "postgres", "-At", "-v", "ON_ERROR_STOP=1")
        yield lambda sql: call(*words, input=sql).stdout.splitlines()
    finally:
        call("pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "stop")
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """An embedding, and the table that the guide makes of it."""
    duckdb = pytest.importorskip("duckdb")
    embedding = embed(from_edges((["ann", "bob", "cy"], ["bob", "cy", "dee"])), n_hops=3, dim=16)
    folder = tmp_path_factory.mktemp("nodes")
    embedding.write(folder / "embedding.parquet")
    (copy,) = re.findall(r"copy \(select .*?\(header\)", GUIDE.read_text(), re.S)
    copy = copy.replace("embedding.parquet", f"{folder}/embedding.parquet")
    duckdb.sql(copy.replace("nodes.csv", f"{folder}/nodes.csv"))
    return embedding, (folder / "nodes.csv").read_text()


def copied(rows):
    """The command `\\copy ... csv header`, with its rows."""
    return f"\\copy nodes from stdin csv header\n{rows}\\.\n"


def test_postgresql_reads_the_vectors(postgres, nodes):
    embedding, rows = nodes
    sql = "create table nodes (id text primary key, embedding text);\n"
    sql += copied(rows)
    sql += "select id || '|' || (translate(embedding, '[]', '{}')::real[])::text from nodes order by id;\n"
    answer = [line.split("|") for line in postgres(sql) if "|" in line]
    assert [name for name, _ in answer] == ["ann", "bob", "cy", "dee"]
    vectors = np.array([[float(value) for value in text.strip("{}").split(",")] for _, text in answer])
    np.testing.assert_array_equal(vectors.astype(np.float32), embedding.matrix)
    postgres("drop table nodes;")


def test_pgvector_finds_the_nearest(postgres, nodes):
    if postgres("select count(*) from pg_available_extensions where name = 'vector';") == ["0"]:
        pytest.skip("no pgvector here: install postgresql-NN-pgvector, or pip install pgserver")
    embedding, rows = nodes
    (recipe,) = re.findall(r"```text\n(create extension.*?)```", GUIDE.read_text(), re.S)
    sql = recipe.replace("\\copy nodes from 'nodes.csv' csv header\n", copied(rows))
    answer = postgres(sql)
    assert answer[-2:] == embedding.similar("ann", 2)["neighbor"].to_pylist()
