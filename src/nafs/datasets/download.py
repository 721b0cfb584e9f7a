"""Published files in a local folder: used if present, otherwise downloaded once and verified."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from nafs._support.errors import InputError, Parameter
from nafs._support.extras import require
from nafs.datasets.catalog import Entry, File


def data_home() -> Path:
    """The folder that ``NAFS_DATA_HOME`` names, or the user's cache."""
    named = os.environ.get("NAFS_DATA_HOME")
    if named:
        return Path(named)
    return Path(require("pooch", "the default data folder", "files").os_cache("nafs"))


def is_present(entry: Entry) -> bool:
    """Whether all files of a data set are in the data folder."""
    home = data_home()
    return all((home / file.path).is_file() for file in entry.files)


def fetch(entry: Entry, *, progress: bool = False, unverified: bool = False) -> list[Path]:
    """Paths of a data set's files, downloaded where they are missing.

    Parameters
    ----------
    entry : Entry
    unverified : bool
        Also download files whose SHA-256 is not known.
    progress : bool
        Show a bar for each download.

    Returns
    -------
    list of Path

    Raises
    ------
    OSError
        If a file is missing and cannot be downloaded.
    ValueError
        If a file's checksum is not the published one; a downloaded file is then deleted.
    """
    home = data_home()
    return [_fetch_one(home, file, progress=progress, unverified=unverified) for file in entry.files]


def _fetch_one(home: Path, file: File, *, progress: bool, unverified: bool) -> Path:
    path = home / file.path
    if path.is_file():
        if file.sha256 is not None and _digest(path) != file.sha256:
            raise InputError(
                f"{path} is damaged: its SHA-256 is not the published one; delete it to fetch it again"
            )
        return path
    if file.sha256 is None and not unverified:
        raise InputError(
            f"{file.url} cannot be verified: its SHA-256 is not known. Put the file at {path} yourself, or "
            "download it anyway with ",
            Parameter("unverified", True),
        )
    pooch = require("pooch", "downloading a data set", "files")
    pooch.get_logger().setLevel("WARNING")
    try:
        pooch.retrieve(
            file.url,
            None if file.sha256 is None else f"sha256:{file.sha256}",
            fname=path.name,
            path=path.parent,
            progressbar=progress,
        )
    except (OSError, ValueError) as error:  # requests' errors are OSErrors; ValueError: wrong checksum
        if isinstance(error, ValueError):
            raise InputError(f"{file.url}: the download is not the published file ({error})") from None
        raise OSError(
            f"cannot download {file.url} ({type(error).__name__}); without network, put the file at {path} "
            "or name another data folder in NAFS_DATA_HOME"
        ) from None
    return path


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
