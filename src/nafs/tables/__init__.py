"""Tables of mixed columns (numbers, categories, dates, text) as features."""

from nafs.tables.balance import Balance, balance
from nafs.tables.encoder import TableEncoder, is_plain

__all__ = ["Balance", "TableEncoder", "balance", "is_plain"]
