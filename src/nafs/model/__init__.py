"""Models: embeddings that can be updated when the graph changes."""

from nafs.model.model import Model
from nafs.model.report import UpdateReport
from nafs.model.requirements import check_decision, without_structure
from nafs.model.states import kept_nbytes
from nafs.model.storage import is_saved_model

__all__ = ["Model", "UpdateReport", "check_decision", "is_saved_model", "kept_nbytes", "without_structure"]
