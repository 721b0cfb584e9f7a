"""Named public graphs, and random ones."""

from nafs.datasets.catalog import CATALOG
from nafs.datasets.example_tables import example_table
from nafs.datasets.generators import contextual_sbm, erdos_renyi, power_law
from nafs.datasets.load import Dataset, load_dataset
from nafs.datasets.planetoid import load_planetoid

__all__ = [
    "CATALOG",
    "Dataset",
    "contextual_sbm",
    "erdos_renyi",
    "example_table",
    "load_dataset",
    "load_planetoid",
    "power_law",
]
