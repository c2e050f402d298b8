"""What a user names as a file is one, or is refused at once: a pipe would hang, a device never end."""

import os
from pathlib import Path

import pytest

from reasoningbank_langgraph.errors import ModelServerError, NotAFileError, ProblemFileError
from reasoningbank_langgraph.files import append_line, check_file, open_file, whole_lines
from reasoningbank_langgraph.local.gguf import read_head
from reasoningbank_langgraph.math_solver.problems import read_problems


@pytest.fixture(params=["pipe", "link to a pipe", "folder", "device"])
def odd(request, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link to a pipe").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    return Path("/dev/zero") if request.param == "device" else tmp_path / request.param


def test_what_is_no_file_is_neither_opened_nor_replaced(odd):
    for look in (open_file, check_file):
        with pytest.raises(NotAFileError, match="name a file"):
            look(odd)


def test_what_is_no_file_is_no_problem_file_and_no_model(odd):
    with pytest.raises(ProblemFileError, match="not a file"):
        read_problems(odd)
    with pytest.raises(ModelServerError, match="not a file"):
        read_head(odd)


def test_a_file_and_a_link_to_one_are_read(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    check_file(tmp_path / "new")
    for name in ("file", "link"):
        check_file(tmp_path / name)
        with open_file(tmp_path / name) as file:
            assert file.read() == b"x"
    with pytest.raises(FileNotFoundError):
        open_file(tmp_path / "new")


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(Path, "is_file", lambda path: True)
    with pytest.raises(NotAFileError):
        open_file(tmp_path / "pipe")


@pytest.mark.parametrize("whole", [[], [1], [1, 2]])
@pytest.mark.parametrize("cut", ["", "{", '{"a": 1, "b"'])
def test_what_a_kill_left_of_a_line_is_removed_before_the_next_one(tmp_path, whole, cut):
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(f"{number}\n" for number in whole) + cut)
    assert whole_lines(path) == [b"%d" % number for number in whole]
    append_line(path, 3)
    append_line(path, 4, durable=False)
    assert path.read_text() == "".join(f"{number}\n" for number in [*whole, 3, 4])
