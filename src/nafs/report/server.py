"""A local server for the page: for graphs whose neighbours and texts do not fit into a file.

It listens on the loopback address only and checks the Host header, so that no other site can reach it through
a browser. Neighbours are computed when a node is selected; texts stay in a Parquet file.
"""

from __future__ import annotations

import json
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from nafs._support.errors import InputError, Parameter
from nafs.embedding import Embedding
from nafs.graph import Graph
from nafs.report.neighbours import LINKS, NEAREST, SUGGESTED, suggestions
from nafs.report.packing import pack
from nafs.report.page import render_for_server
from nafs.report.texts import TextTable
from nafs.similarity.nearest import unit_rows

LOOPBACK = "127.0.0.1"
MATCHES = 12  # of a search
MOST_WORDS = 200  # letters of a search


def check_port(port: int) -> None:
    """Raise if no server can listen on a port of this machine."""
    if not 0 <= port < 65536:
        raise InputError(Parameter("port"), f" must lie between 0 and 65535; got {port}")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise InputError(
                f"port {port} cannot be used ({error.strerror}); choose another, or any free one with ",
                Parameter("port", 0),
            ) from None


class PageServer(ThreadingHTTPServer):
    """Serves one page: ``/``, its data, and the neighbours of each node.

    Parameters
    ----------
    data : dict
        As :func:`nafs.report.collect` returns it with ``details=False``.
    embedding : Embedding
    graph : Graph, optional
    port : int
        0 chooses a free port.
    """

    daemon_threads = True

    def __init__(
        self, data: dict[str, Any], embedding: Embedding, graph: Graph | None = None, port: int = 0
    ) -> None:
        check_port(port)
        columns = list(data["columns"])
        self.texts = TextTable(
            {i: column["values"] for i, column in enumerate(columns) if column["kind"] == "text"}
        )
        super().__init__((LOOPBACK, port), _Handler)
        self.page = render_for_server("data").encode()
        for i in self.texts.columns:
            columns[i] = {name: value for name, value in columns[i].items() if name != "values"}
        self.packed = pack(data | {"server": True, "detailsNote": "", "columns": columns})
        self.rows = unit_rows(embedding.matrix)
        self.graph = graph
        self.weights = data.get("weights")

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/"

    def facts(self, node: int) -> dict[str, Any]:
        """Everything about one node that the page shows in its panel."""
        scores = self.rows @ self.rows[node]
        scores[node] = -np.inf
        count = min(NEAREST + 2 * SUGGESTED, len(scores) - 1)
        near = np.argpartition(-scores, count - 1)[:count] if count else np.zeros(0, np.int64)
        near = near[np.lexsort((near, -scores[near]))]
        facts: dict[str, Any] = {
            "nearest": [{"row": int(row), "score": float(scores[row])} for row in near[:NEAREST]],
            "texts": self.texts.of(node),
        }
        if self.graph is not None:
            adjacency = self.graph.adjacency
            linked = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
            rows, shared = suggestions(adjacency, np.array([node]), near[None, :])
            facts["linked"] = [int(row) for row in linked[:LINKS]]
            facts["degree"] = len(linked)
            facts["suggested"] = [
                {"row": int(row), "shared": int(common)}
                for row, common in zip(rows[0], shared[0], strict=True)
                if row >= 0
            ]
        if self.weights is not None:
            values = np.asarray(self.weights["values"]).reshape(len(self.rows), -1)[node].astype(float)
            facts["weights"] = (values / max(values.sum(), 1e-30)).tolist()
        return facts

    def server_close(self) -> None:
        """Stop listening, and delete the texts."""
        super().server_close()
        self.texts.__exit__(None, None, None)


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        port = self.server.server_address[1]
        if self.headers.get("Host") not in (f"{LOOPBACK}:{port}", f"localhost:{port}"):
            self.send_error(403)
        elif self.path == "/":
            self._answer(self.server.page, "text/html; charset=utf-8")
        elif self.path == "/data":
            self._answer(self.server.packed, "application/octet-stream")
        else:
            self._ask()

    def _ask(self) -> None:
        """Answer for a node (/node/7), words (/search?words), or words in a column (/filter/3?words)."""
        address = urlsplit(self.path)
        words, texts = unquote(address.query)[:MOST_WORDS], self.server.texts
        node, column = _number(address.path, "/node/"), _number(address.path, "/filter/")
        if node is not None and node < len(self.server.rows):
            self._answer(json.dumps(self.server.facts(node)).encode(), "application/json")
        elif address.path == "/search":
            self._answer(json.dumps(texts.search(words, MATCHES)).encode(), "application/json")
        elif column in texts.columns and column is not None:
            inside = texts.containing(column, words, len(self.server.rows))
            self._answer(inside.tobytes(), "application/octet-stream")
        else:
            self.send_error(404)

    def _answer(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Do not log requests."""


def _number(path: str, prefix: str) -> int | None:
    text = path.removeprefix(prefix)
    is_number = text != path and text.isascii() and text.isdigit() and len(text) < 12
    return int(text) if is_number else None
