"""The project's own files agree: one version, workflows that run targets that exist, the usual changelog."""

import re
import tomllib
from pathlib import Path

import pytest

import nafs

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def yaml_of(path):
    return pytest.importorskip("yaml").safe_load(path.read_text())


def test_the_version_is_that_of_pyproject_everywhere():
    if not (ROOT / "CITATION.cff").exists():
        pytest.skip("CITATION.cff is missing: run the tests in a clone")
    assert yaml_of(ROOT / "CITATION.cff")["version"] == PROJECT["version"]
    assert nafs.__version__ == PROJECT["version"]
    released = re.findall(r"^## \[(\S+)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert released[0] == PROJECT["version"]


def test_the_changelog_has_only_the_usual_sections():
    sections = re.findall(r"^### (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert set(sections) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert len(sections) == len(set(sections)), "a section stands twice"


def test_workflows_run_targets_that_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    if not workflows:
        pytest.skip(".github is missing: run the tests in a clone")
    for path in workflows:
        for name, job in yaml_of(path)["jobs"].items():
            for step in job["steps"]:
                assert "uses" in step or "run" in step, f"{path.name}: {name}"
                for target in re.findall(r"^make ([\w-]+)", step.get("run", ""), re.M):
                    assert target in targets, f"{path.name}: make {target}"


def test_all_installs_every_extra_of_a_user():
    extras = PROJECT["optional-dependencies"]
    assert re.findall(r"[\w]+", extras["all"][0].removeprefix("nafs")) == [
        "cli", "dask", "similar", "tables", "plot",
    ]  # fmt: skip
    heavy = ("duckdb", "typer", "rich", "torch", "pandas")
    assert not any(name.startswith(heavy) for name in PROJECT["dependencies"])
