"""An embedding that can be updated: what a model keeps, and how changes of the graph spread through it."""

from nafs.model.model import Model, UpdateReport

__all__ = ["Model", "UpdateReport"]
