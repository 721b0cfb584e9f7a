"""Matrices in files: damage, false claims, and archives that unpack without end."""

import gzip
import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from nafs import read_graph
from nafs._support.errors import InputError
from nafs.readers.matrices import read_matrix


def mtx(tmp_path, text):
    path = tmp_path / "m.mtx"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


HEADER = "%%MatrixMarket matrix coordinate real general\n"


class TestMatrices:
    @pytest.mark.parametrize(
        "text",
        [
            HEADER + "2000000000 2000000000 1\n1 2 1\n",
            HEADER + "3 3 999999999999\n1 2 1\n",
            HEADER + "99999999999999999999999 3 1\n1 2 1\n",
            HEADER.encode() + b"3 3 1\n1 2\0 1\n",
            HEADER.encode() + b"3 3 1\n1 2 1\n\0",
            HEADER + "3 3 2\n1 2 1\n",
            HEADER + "%\n" * 600_000 + "3 3 1\n1 2 1\n",
            HEADER + "%" + "x" * 5000 + "\n3 3 1\n1 2 1\n",
            HEADER + "3 3 1\n1 4 1\n",
            HEADER + "3 3 1\n0 1 1\n",
            HEADER + "3 3 1\n1 2 x\n",
            HEADER + "3 3 1\n1 2 1\n2 3 1\n",
            HEADER + "3 3 1\n1 2\n",
            HEADER + "-3 3 1\n1 2 1\n",
            HEADER + "3 3 1\n1.5 2 1\n",
            "%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 2 1 0\n",
            "%%MatrixMarket matrix array real general\n1000000 1000000\n1\n",
            "%%MatrixMarket vector coordinate real general\n3 3 1\n1 2 1\n",
            "no matrix\n",
            "",
            HEADER,
        ],
    )
    def test_damaged_matrix_market_is_refused(self, tmp_path, text):
        with pytest.raises(InputError, match=r"m\.mtx") as raised:
            read_graph(mtx(tmp_path, text))
        assert str(raised.value).count("m.mtx") == 1

    @pytest.mark.parametrize(
        ("text", "dense"),
        [
            (HEADER + "% a comment\n\n2 3 2\n1 2 1.5\n2 3 -2e1\n", [[0, 1.5, 0], [0, 0, -20]]),
            (
                "%%MatrixMarket MATRIX Coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n",
                [[0, 1, 0], [1, 0, 0], [0, 0, 1]],
            ),
            ("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n", [[0, -3], [3, 0]]),
            ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", [[1, 3], [2, 4]]),
            ("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n4\n", [[1, 2], [2, 4]]),
            (HEADER + "2 2 2\n1 2 1\n1 2 1\n", [[0, 2], [0, 0]]),
        ],
    )
    def test_matrix_market(self, tmp_path, text, dense):
        matrix = read_matrix(mtx(tmp_path, text))
        matrix = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        assert matrix.tolist() == dense
        (tmp_path / "g.mtx.gz").write_bytes(gzip.compress(text.encode()))
        matrix = read_matrix(str(tmp_path / "g.mtx.gz"))
        matrix = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        assert matrix.tolist() == dense

    def npz(self, path, packed=False, **members):
        kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", kind) as archive:
            for name, content in members.items():
                if isinstance(content, bytes):
                    archive.writestr(f"{name}.npy", content)
                else:
                    file = io.BytesIO()
                    np.save(file, content)
                    archive.writestr(f"{name}.npy", file.getvalue())

    def header(self, text):
        body = text.encode() + b" " * (118 - len(text)) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body

    def test_huge_shapes_are_refused_at_once(self, tmp_path):
        path = tmp_path / "m.npz"
        claims = self.header("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }")
        self.npz(
            path,
            data=claims,
            indices=np.zeros(1, int),
            indptr=np.zeros(2, int),
            format=np.array(b"csr"),
            shape=np.array([1, 1]),
        )
        with pytest.raises(InputError, match=r"m\.npz"):
            read_graph(path)
        (tmp_path / "m.npy").write_bytes(claims)
        with pytest.raises(InputError, match=r"m\.npy"):
            read_graph(tmp_path / "m.npy")
        self.npz(
            path,
            data=np.zeros(0),
            indices=np.zeros(0, int),
            indptr=np.zeros(1, int),
            format=np.array(b"csr"),
            shape=np.array([2_000_000_000, 2_000_000_000]),
        )
        with pytest.raises(InputError, match=r"m\.npz"):
            read_graph(path)
        self.npz(
            path,
            row=np.zeros(0, int),
            col=np.zeros(0, int),
            data=np.zeros(0),
            format=np.array(b"coo"),
            shape=np.array([2_000_000_000, 2_000_000_000]),
        )
        with pytest.raises(InputError, match=r"m\.npz"):
            read_graph(path)

    def test_blocks_without_rows_are_refused(self, tmp_path):
        self.npz(
            tmp_path / "m.npz",
            data=np.zeros((1, 0, 3)),
            indices=np.zeros(1, int),
            indptr=np.array([0, 1]),
            format=np.array(b"bsr"),
            shape=np.array([3, 3]),
        )
        with pytest.raises(InputError, match=r"m\.npz does not fit together"):
            read_graph(tmp_path / "m.npz")

    def test_bombs_are_refused(self, tmp_path):
        path = tmp_path / "m.npz"
        self.npz(path, packed=True, x=np.zeros((20_000, 20_000), np.int8))
        assert path.stat().st_size < 1 << 20
        with pytest.raises(InputError, match="unpack"):
            read_graph(path, memory_limit="200MB")
        with pytest.raises(InputError, match="unpack"):
            read_graph(path)

    @pytest.mark.parametrize(
        "text",
        [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,",
            "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
            "\x00\x01(",
            "((((",
            "{'descr': '<U0', 'fortran_order': False, 'shape': (2,), }",
            "{'descr': '<U999999999', 'fortran_order': False, 'shape': (0,), }",
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        ],
    )
    def test_damaged_headers(self, tmp_path, text):
        (tmp_path / "m.npy").write_bytes(self.header(text) + b"\0" * 8)
        with pytest.raises(InputError, match=r"m\.npy"):
            read_graph(tmp_path / "m.npy")
        self.npz(tmp_path / "m.npz", x=self.header(text) + b"\0" * 8)
        with pytest.raises(InputError, match=r"m\.npz"):
            read_graph(tmp_path / "m.npz")
