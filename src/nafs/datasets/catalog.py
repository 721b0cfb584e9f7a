"""The public graphs that are known by name: where their files come from and what they should contain."""

from __future__ import annotations

from dataclasses import dataclass

from nafs._support.errors import InputError

_PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data"
_GRAPHDATA = "https://github.com/EdisonLeeeee/GraphData/raw/master/datasets"
_OGB = "https://snap.stanford.edu/ogb/data/nodeproppred"


@dataclass(frozen=True)
class File:
    """One published file: its place in the data folder, its address and its SHA-256 where that is known."""

    path: str
    url: str
    sha256: str | None = None


@dataclass(frozen=True)
class Entry:
    """A data set by name. Counts are those of the graph after merging duplicates and dropping self-loops."""

    name: str
    title: str
    layout: str
    files: tuple[File, ...] = ()
    nodes: int | None = None
    features: int | None = None
    edges: int | None = None
    classes: int | None = None


def _planetoid(name: str, title: str, counts: tuple[int, int, int, int], hashes: dict[str, str]) -> Entry:
    files = tuple(
        File(f"planetoid/ind.{name}.{part}", f"{_PLANETOID}/ind.{name}.{part}", digest)
        for part, digest in hashes.items()
    )
    return Entry(name, title, "planetoid", files, *counts)


def _graphdata(name: str, title: str, digest: str | None = None, counts: tuple[int, ...] = ()) -> Entry:
    file = name.replace("-", "_")
    return Entry(
        name,
        title,
        "graphdata",
        (File(f"graphdata/{file}.npz", f"{_GRAPHDATA}/{file}.npz", digest),),
        *counts,
    )


_ENTRIES = (
    Entry("digits", "images, 10-NN", "digits", (), 1797, 64, None, 10),
    _planetoid(
        "cora",
        "paper citations",
        (2708, 1433, 5278, 7),
        {
            "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
            "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
            "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
            "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
            "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
            "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
            "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
            "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
        },
    ),
    _planetoid(
        "citeseer",
        "paper citations",
        (3327, 3703, 4552, 6),
        {
            "x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
            "y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
            "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
            "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
            "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
            "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
            "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
            "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
        },
    ),
    _planetoid(
        "pubmed",
        "paper citations",
        (19717, 500, 44324, 3),
        {
            "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
            "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
            "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
            "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
            "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
            "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
            "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
            "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
        },
    ),
    Entry(
        "wiki",
        "page links",
        "wiki",
        (
            File(
                "wiki/wiki.mat",
                "https://github.com/karenlatong/AGC-master/raw/master/wiki.mat",
                "1b59b0b19cbf398bbc5c1c940f3c262300bcd56dae04890094666f9d220533b3",
            ),
        ),
        2405,
        4973,
        11596,
        17,
    ),
    _graphdata(
        "amazon-photo",
        "co-purchases",
        "bdb98b54cd3125bfa69b23ba0aae84fabcb770c6727175b8f6eb1d64f3be4b2b",
        (7650, 745, 119081, 8),
    ),
    _graphdata("amazon-computers", "co-purchases"),
    _graphdata(
        "coauthor-cs",
        "co-authors",
        "7b7b51bf270d341f1c4231834c58a526bb04db003fd76a6d2f51ad7d252005ed",
        (18333, 6805, 81894, 15),
    ),
    _graphdata("coauthor-phy", "co-authors"),
    _graphdata(
        "acm",
        "papers by author",
        "f585d6127cd2e2a6605d3f1f7dded4003264f32db0b8d339adb2436559374a03",
        (3025, 1870, 13128, 3),
    ),
    _graphdata("dblp", "authors"),
    _graphdata("uai", "web pages"),
    _graphdata("blogcatalog", "bloggers"),
    _graphdata("flickr", "users"),
    Entry(
        "ogbn-arxiv",
        "paper citations",
        "ogb",
        (File("ogb/arxiv.zip", f"{_OGB}/arxiv.zip"),),
        169343,
        128,
        None,
        40,
    ),
    Entry(
        "ogbn-products",
        "co-purchases",
        "ogb",
        (File("ogb/products.zip", f"{_OGB}/products.zip"),),
        2449029,
        100,
        None,
        47,
    ),
)
CATALOG = {entry.name: entry for entry in _ENTRIES}


def find(name: str) -> Entry:
    """The entry of a name; raises with the known names otherwise."""
    entry = CATALOG.get(name.lower().replace("_", "-"))
    if entry is None:
        raise InputError(f"unknown data set {name!r}; known ones are {', '.join(CATALOG)}")
    return entry
