"""Nothing is lost or half-written, whatever happens to a command."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest
from command import run


def test_nothing_is_overwritten_unless_told(place, capsys):
    Path("z.csv").write_text("precious")
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.csv") == 2
    assert "exists already" in capsys.readouterr().err
    assert Path("z.csv").read_text() == "precious"
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.csv", "--force", "-q") == 0
    assert "ann" in Path("z.csv").read_text()


def test_a_file_that_appears_meanwhile_is_left_alone(place):
    from nafs._support.atomic import whole_file

    def write():
        with whole_file(place / "late.csv", force=False) as part:
            part.write_text("ours")
            (place / "late.csv").write_text("theirs")

    with pytest.raises(FileExistsError, match="created by another program in the meantime"):
        write()
    assert (place / "late.csv").read_text() == "theirs"
    (place / "link.csv").symlink_to(place / "late.csv")
    with whole_file(place / "link.csv", force=True) as part:
        part.write_text("through the link")
    assert (place / "late.csv").read_text() == "through the link"
    assert (place / "link.csv").is_symlink()
    assert not list(place.glob(".*.part"))


def test_a_full_disk_leaves_nothing_behind(place, capsys, monkeypatch):
    class Full(pyarrow.csv.CSVWriter):
        def write_table(self, *_):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(pyarrow.csv, "CSVWriter", Full)
    before = sorted(os.listdir())
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.csv") == 2
    assert "No space left on device" in capsys.readouterr().err
    assert sorted(os.listdir()) == before


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing fails as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
from nafs.cli.main import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "words",
    [
        ("embed", "e.csv", "-o", "z.npy"),
        ("convert", "e.csv", "saved"),
        ("cluster", "e.csv", "--clusters", "2", "--hops", "2", "-o", "c.csv"),
    ],
)
def test_an_output_that_does_not_fit_leaves_nothing_behind(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    ends = np.random.default_rng(0).integers(0, 900, (3000, 2)).tolist()
    Path("e.csv").write_text("source,target\n" + "".join(f"node{a},node{b}\n" for a, b in ends))
    done = subprocess.run([sys.executable, "-c", FULL_DISK, *words], capture_output=True, check=False)
    assert done.returncode == 2, done.stderr
    assert b"File too large" in done.stderr
    assert os.listdir() == ["e.csv"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [("embed", "e.csv", "-o", "-"), ("describe", "e.csv")])
def test_a_full_device_behind_stdout(place, words):
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "nafs", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            env=plain,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.count(b"No space left") == 1
    assert b"Exception ignored" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_closed_stdout(place):
    words = f"{shlex.quote(sys.executable)} -m nafs embed e.csv -o z.npy >&-"
    done = subprocess.run(["sh", "-c", words], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert Path("z.npy").exists()


def test_an_interrupt_leaves_no_half_written_output(place):
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 60_000, (600_000, 2))
    np.savetxt("big.csv", ends, fmt="%d", delimiter=",")
    before = sorted(os.listdir())
    process = subprocess.Popen(
        [sys.executable, "-m", "nafs", "embed", "big.csv", "-o", "z.csv", "--hops", "2000"],
        stderr=subprocess.PIPE,
    )
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    start = time.perf_counter()
    shown = process.communicate(timeout=60)[1].decode()
    assert time.perf_counter() - start < 20
    assert process.returncode == 130
    assert "interrupted" in shown
    assert "Traceback" not in shown
    assert sorted(os.listdir()) == before


def test_the_two_files_of_an_npy_come_together(place, monkeypatch):
    assert run("embed", "e.csv", "-o", "z.npy", "-q") == 0
    before = {name: Path(name).read_bytes() for name in ("z.npy", "z.ids.csv")}
    Path("e.csv").write_text("source,target\nnew,nodes\n")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nafs.writers.embeddings.save_npy", full)
    assert run("embed", "e.csv", "-o", "z.npy", "-q", "--force") == 2
    assert {name: Path(name).read_bytes() for name in before} == before


def test_an_interrupt_while_reading(place):
    with Path("big.csv").open("w") as file:
        file.write(
            "".join(f"name-{i * 7919 % 2000003},name-{i * 104729 % 2000003}\n" for i in range(2_000_000))
        )
    before = sorted(os.listdir())
    for wait in (0.2, 1.2, 2.0):
        process = subprocess.Popen(
            [sys.executable, "-m", "nafs", "embed", "big.csv", "-o", "z.csv"], stderr=subprocess.PIPE
        )
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        shown = process.communicate(timeout=60)[1].decode()
        if wait > 1:  # before that Python itself may still be starting
            assert process.returncode == 130, shown
            assert "interrupted" in shown
            assert "Traceback" not in shown
        assert sorted(os.listdir()) == before


def test_resuming_leaves_unrelated_files_alone(place, capsys):
    Path("z.json").write_text("mine")
    Path("z.ids.csv").write_text("mine too")
    assert (
        run("embed", "e.csv", "-f", "f.csv", "-o", "z.npy", "--engine", "disk", "--hops", "2", "--resume")
        == 2
    )
    assert "exists already" in capsys.readouterr().err
    assert Path("z.json").read_text() == "mine"
    assert Path("z.ids.csv").read_text() == "mine too"


def test_resuming_removes_what_the_killed_run_wrote(place):
    from nafs.engines.leftovers import announce_output, remove_leftovers

    Path("w").mkdir()
    Path("w/about.json").write_text('{"format": "nafs-work"}')
    for name in ("z.json", "z.ids.csv", ".z.npy.abcd1234.part", "z.csv"):
        Path(name).write_text("x")
    remove_leftovers("w", "z.npy")
    assert Path("z.json").exists(), "nobody said that an output was being written"
    announce_output("w", "z.npy")
    remove_leftovers("w", "z.npy")
    assert not any(Path(name).exists() for name in ("z.json", "z.ids.csv", ".z.npy.abcd1234.part"))
    assert Path("z.csv").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["-o", "n" * 300 + ".npy"], "is too long for a file"),
        (["-o", "n" * 300 + "/z.npy"], "is too long for a file"),
        (["-o", "n/" * 3000 + "z.npy"], "the path n/n/"),
        (["-o", "folder.npy"], "is a folder"),
        (["-o", "z.npy", "--keep", "n" * 300], "is too long for a file"),
        (["-o", "z.npy", "--work-dir", "n" * 300], "is too long for a file"),
    ],
)
def test_names_that_cannot_be_written_are_refused_before_the_work(place, monkeypatch, capsys, words, reason):
    monkeypatch.setattr("nafs.cli.embed.read", None)  # nothing is read
    Path("folder.npy").mkdir()
    assert run("embed", "e.csv", "-f", "f.csv", "--force", "--hops", "2", *words) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert reason in shown
    assert "Errno" not in shown
