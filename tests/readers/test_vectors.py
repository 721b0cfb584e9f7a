"""Embeddings of any origin, with untrusted metadata."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from nafs._support.errors import InputError
from nafs.readers.vectors import read_embedding


@pytest.mark.parametrize("hops", ["NaN", "10000000", "-1", '"many"', "1e3"])
def test_hostile_metadata_of_an_embedding(tmp_path, hops):
    about = {b"nafs": b'{"n_hops": ' + hops.encode() + b"}"}
    table = pa.table({"id": ["a", "b"], "e0": [1.0, 2.0]}).replace_schema_metadata(about)
    pa.parquet.write_table(table, tmp_path / "z.parquet")
    with pytest.raises(InputError, match=r"z\.parquet: its metadata says n_hops"):
        read_embedding(tmp_path / "z.parquet")
    np.save(tmp_path / "y.npy", np.ones((2, 1)))
    (tmp_path / "y.ids.csv").write_text("id\na\nb\n")
    (tmp_path / "y.json").write_text('{"n_hops": ' + hops + "}")
    with pytest.raises(InputError, match="n_hops"):
        read_embedding(tmp_path / "y.npy")


@pytest.mark.parametrize("about", ["[" * 100_000, '{"n_hops": ' + "9" * 5000 + "}", "\x00", "[]", "3"])
def test_metadata_that_is_no_record_is_left_alone(tmp_path, about):
    np.save(tmp_path / "y.npy", np.ones((2, 1)))
    (tmp_path / "y.ids.csv").write_text("id\na\nb\n")
    (tmp_path / "y.json").write_text(about)
    assert read_embedding(tmp_path / "y.npy")[3] == {}


def test_doubtful_ids_name_no_option_that_is_not_there(tmp_path):
    (tmp_path / "z.csv").write_text("source,target\na,b\nb,c\n")
    with pytest.raises(
        InputError, match=r"'source' and 'target' could .* name the right column with the header 'id'"
    ):
        read_embedding(tmp_path / "z.csv")
