"""Answers for every node: classes from a few labels."""

from nafs.answers.classes import Classification, classify

__all__ = ["Classification", "classify"]
