"""Files of an output that a killed process left behind: known by a note in the work folder, never guessed."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from nafs._support.json_text import parse_json
from nafs.engines.work import WRITING, WorkFolder


def announce_output(work_dir: str | os.PathLike[str] | None, output: str) -> None:
    """Note in the work folder, if there is one, that an output is about to be written."""
    if work_dir is not None and WorkFolder(Path(work_dir)).about():
        (Path(work_dir) / WRITING).write_text(json.dumps({"output": Path(output).name}), encoding="utf-8")


def remove_leftovers(work_dir: str | os.PathLike[str] | None, output: str) -> None:
    """Delete the parts of an output whose writing was interrupted, if the work folder says so.

    Nothing is deleted that the interrupted run did not write: files that only happen to have the same name
    stay, and are refused as outputs.
    """
    if work_dir is None or not WorkFolder(Path(work_dir)).about():
        return
    try:
        announced: Any = parse_json((Path(work_dir) / WRITING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    path = Path(output)
    if not isinstance(announced, dict) or announced.get("output") != path.name or path.exists():
        return
    beside = [path.name, path.with_suffix(".ids.csv").name, path.with_suffix(".json").name]
    part = re.compile(rf"\.({'|'.join(map(re.escape, beside))})\.[a-z0-9_]{{8}}\.part")
    for entry in path.parent.iterdir():
        if part.fullmatch(entry.name) or (path.suffix == ".npy" and entry.name in beside[1:]):
            entry.unlink(missing_ok=True)
