"""DuckDB has no network access; readings that share a database do not collide."""

import os

import duckdb
import pytest

from nafs import read_graph
from nafs._support.errors import InputError
from nafs.readers.database import duckdb_connection, one_database


class TestDuckDB:
    def test_names_mean_local_files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name in ("~/e.csv", "s3:/e.csv", "http:/e.csv"):
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "w") as file:
                file.write("a,b\nb,c\n")
            assert read_graph(name).n_edges == 2
        for name in ("https://example.org/e.csv", "s3://bucket/e.parquet", "https://example.org/*.csv"):
            with pytest.raises(FileNotFoundError):
                read_graph(name)

    def test_no_extension_is_loaded(self):
        with duckdb_connection() as duck:
            settings = dict(
                duck.execute("SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%'").fetchall()
            )
        assert settings["autoinstall_known_extensions"] == "false"
        assert settings["autoload_known_extensions"] == "false"


class TestOneDatabase:
    def test_tables_of_readings_do_not_meet(self, tmp_path):
        (tmp_path / "e.csv").write_text("a,b\nb,c\n")
        (tmp_path / "f.csv").write_text("1,2\n2,3\n3,4\n")
        with one_database():
            graphs = [read_graph(tmp_path / name) for name in ("e.csv", "f.csv", "e.csv")]
            with duckdb_connection() as duck:
                assert duck.execute("SHOW ALL TABLES").fetchall() == []
        assert [graph.ids.tolist() for graph in graphs] == [["a", "b", "c"], [1, 2, 3, 4], ["a", "b", "c"]]

    def test_it_is_opened_again_after_an_error_that_ended_it(self):
        with one_database():
            with pytest.raises(duckdb.FatalException), duckdb_connection():
                raise duckdb.FatalException("the database has been invalidated")
            with duckdb_connection() as duck:
                assert duck.execute("SELECT 1").fetchall() == [(1,)]

    def test_a_refused_table_leaves_it_usable(self, tmp_path):
        (tmp_path / "bad.csv").write_text("source,target,weight\na,b,x\n")
        (tmp_path / "e.csv").write_text("a,b\n")
        with one_database():
            with pytest.raises(InputError, match="'x'"):
                read_graph(tmp_path / "bad.csv")
            assert read_graph(tmp_path / "e.csv").n_edges == 1
