"""Run the lines that docs/gallery.md shows, and put the pictures that they save into docs/figures.

python tools/gallery.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Run the page's code blocks in a temporary folder."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    known: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        for kind, block in re.findall(r"```(python|console)\n(.*?)```", page, re.S):
            if kind == "python":
                exec(compile(block, "docs/gallery.md", "exec"), known)
                continue
            for line in re.findall(r"^\$ (.+)$", block, re.M):
                subprocess.run(line, shell=True, check=True)
        for picture in Path(folder).glob("gallery-*.png"):
            (ROOT / "docs" / "figures" / picture.name).write_bytes(picture.read_bytes())
            print(picture.name)


if __name__ == "__main__":
    main()
