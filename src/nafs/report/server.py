"""The page from a server on this machine: for graphs whose neighbours do not fit into a file.

It listens on the loopback address only and answers only requests that name it, so that no other site can
reach it through a browser. Neighbours are computed when a node is selected.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from nafs.embedding import Embedding
from nafs.graph import Graph
from nafs.report.neighbours import LINKS, NEAREST, SUGGESTED, suggestions
from nafs.report.packing import pack
from nafs.report.page import render_for_server
from nafs.similarity.nearest import unit_rows

LOOPBACK = "127.0.0.1"


class PageServer(ThreadingHTTPServer):
    """Serves one page: ``/``, its data, and the neighbours of each node.

    Parameters
    ----------
    data : dict
        As :func:`nafs.report.collect` returns it with ``details=False``.
    embedding : Embedding
    graph : Graph, optional
    port : int
        0 takes any free port.
    """

    daemon_threads = True

    def __init__(
        self, data: dict[str, Any], embedding: Embedding, graph: Graph | None = None, port: int = 0
    ) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.page = render_for_server("data").encode()
        self.packed = pack(data | {"server": True, "detailsNote": ""})
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
            "nearest": [{"row": int(row), "score": float(scores[row])} for row in near[:NEAREST]]
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
        elif self._node() is not None:
            facts = self.server.facts(self._node() or 0)
            self._answer(json.dumps(facts).encode(), "application/json")
        else:
            self.send_error(404)

    def _node(self) -> int | None:
        text = self.path.removeprefix("/node/")
        is_number = text != self.path and text.isascii() and text.isdigit()
        return int(text) if is_number and len(text) < 12 and int(text) < len(self.server.rows) else None

    def _answer(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing: requests are no news."""
