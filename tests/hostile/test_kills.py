"""kill -9, damaged work folders and signals: the same bytes after a resume, or one line about it."""

import signal

import pytest
from kills import KilledRuns, signalled


@pytest.fixture(scope="module")
def runs(saved, tmp_path_factory):
    killed = KilledRuns(saved, tmp_path_factory.mktemp("kills"))
    yield killed
    killed.starter.stop()


@pytest.mark.parametrize("seed", range(2))
def test_a_killed_run_resumes_to_the_same_bytes(runs, seed):
    assert runs.kill(seed) == ""


@pytest.mark.parametrize("seed", range(100, 103))
def test_a_damaged_work_folder_is_noticed(runs, seed):
    assert runs.kill(seed, damage=True) == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("seconds", [0.6, 1.5])
def test_signals_end_with_their_codes(saved, tmp_path, number, code, seconds):
    words = ["embed", saved, "--hops", "2000", "-o", tmp_path / "z.npy"]
    ended, shown = signalled(words, seconds, number)
    assert ended == code, shown
    assert "Traceback" not in shown
    assert list(tmp_path.iterdir()) == []
