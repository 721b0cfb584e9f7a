"""PyG objects: the transform, and one kind of nodes of heterogeneous data. Stand-ins where PyG is missing."""

from types import SimpleNamespace

import numpy as np
import pytest

from nafs import InputError, embed, from_pyg


class Hetero:
    """What is used of a HeteroData."""

    node_types = ("paper", "author")
    edge_types = (("paper", "by", "author"), ("author", "wrote", "paper"))

    def __init__(self):
        by = np.array([[0, 1, 1, 2], [0, 0, 1, 1]])
        self.parts = {
            "paper": SimpleNamespace(num_nodes=4, x=np.eye(4, 3), y=np.array([0, 0, 1, 1])),
            "author": SimpleNamespace(num_nodes=2),
            ("paper", "by", "author"): SimpleNamespace(edge_index=by),
            ("author", "wrote", "paper"): SimpleNamespace(edge_index=by[::-1]),
        }

    def __getitem__(self, key):
        return self.parts[key]


PATH = [("paper", "by", "author"), ("author", "wrote", "paper")]


def test_papers_that_share_an_author_are_linked():
    graph = from_pyg(Hetero(), node_type="paper", meta_path=PATH)
    A = graph.adjacency.to_scipy().toarray()
    assert A.tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert graph.features.shape == (4, 3)
    assert graph.labels.codes.tolist() == [0, 0, 1, 1]
    assert any("by → wrote" in note for note in graph.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nodes of the types paper, author: choose one with node_type"),
        ({"node_type": "venue", "meta_path": PATH}, "node_type must be one of paper, author; got 'venue'"),
        (
            {"node_type": "author", "meta_path": PATH},
            "meta_path continues from 'author', but the next step is",
        ),
        ({"node_type": "paper", "meta_path": PATH[:1]}, "back to 'paper'; it ends at 'author'"),
        ({"node_type": "paper", "meta_path": [("paper", "cites", "paper")]}, "but the edge types are"),
    ],
)
def test_paths_that_lead_nowhere_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        from_pyg(Hetero(), **options)
    with pytest.raises(TypeError, match="HeteroData"):
        embed(Hetero())


def test_the_transform_adds_the_embedding():
    torch = pytest.importorskip("torch")
    data_module = pytest.importorskip("torch_geometric.data")
    from torch_geometric.transforms import Compose, NormalizeFeatures

    from nafs.pyg import AddNAFS

    rng = np.random.default_rng(0)
    data = data_module.Data(
        x=torch.from_numpy(rng.random((6, 4), dtype=np.float32)),
        edge_index=torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]),
    )
    expected = embed(from_pyg(data), n_hops=3).matrix
    added = AddNAFS(n_hops=3)(data)
    assert added.x.shape == (6, 8)
    np.testing.assert_array_equal(added.x[:, 4:].numpy(), expected)
    assert data.x.shape == (6, 4), "the object passed in stays as it is"
    assert AddNAFS("z", n_hops=3)(data).z.shape == (6, 4)
    assert Compose([NormalizeFeatures(), AddNAFS(n_hops=3, mode="replace")])(data).x.shape == (6, 4)
