"""No answer hangs the comparison, crashes it, or runs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reasoningbank_langgraph.math_answers import equivalent, extract_answer, nodes, symbolic

LIMIT_SECONDS = 2.0

PRIMES = [number for number in range(3, 600, 2) if all(number % below for below in range(3, 25, 2) if below < number)]
BOMBS = [
    "9**9**9",
    "9**9**9**9",
    "factorial(10**7)",
    "(10^7)!",
    "((((3!)!)!)!)!",
    "10^{10^{10}}",
    "e^{e^{e^{e^{10}}}}",
    "x^{x^{x^{x^{x}}}}",
    "x!+10^{900}",
    r"\sqrt{" * 40 + "2" + "}" * 40,
    r"\sqrt{" * 20 + "2" + "}" * 20,
    r"\frac{1}{" * 20 + "x" + "}" * 20,
    "(" * 300 + "1" + ")" * 300,
    "(" * 500_000 + "1" + ")" * 500_000,
    "1" * 1_000_000,
    "9" * 900,
    "1e9999",
    r"\binom{10000000}{5000000}",
    r"\binom{x^{99}}{y}",
    "(x+1)^{100000}",
    r"\sin(10^{5000})",
    r"\cos(e^{10000})",
    r"\arctan(\arctan(10^{4000}))",
    "+".join(rf"\frac{{1}}{{{number}^{{5000}}}}" for number in range(2, 40)),
    "+".join(rf"\sin({number}^{{50}}x)" for number in range(30)),
    r"\sqrt" * 300 + "2",
    r"\frac" * 300,
    r"\sin" * 200 + "x",
    "x^" + "-" * 300 + "1",
    "x" + "!" * 300,
    "1," * 400,
    r"\{" + ",".join(rf"\sqrt{{{number}}}" for number in range(2, 47)) + r"\}",
    r"\pm " * 50 + "3",
    r"\begin{pmatrix}" * 30,
    r"\text{" * 100,
    "\ud800",
    "\x00",
    "\U0001f600" * 100,
    "0.\\overline{" + "3" * 390 + "}",
    r"\sqrt[3]{2^{32001}}",
    "(-1)^{10^{300}}",
    "2^{2^{2^{2^{2^2}}}}",
    "+".join(f"{prime}^-{32_700 // prime.bit_length()}" for prime in PRIMES[:79]),
    ",".join(f".00000000000001*{prime}^-{16_000 // prime.bit_length()}" for prime in PRIMES[:38]),
    "+".join(rf"\binom{{{32_768 - below}}}{{16384}}" for below in range(40)),
    "*".join(f"{number}!/{number + 1}!" for number in range(1_900, 1_980)),
    "+".join(rf"\sqrt[3]{{2^{{{1_998 - 3 * step}}}}}" for step in range(50)),
    "+".join(rf"\sqrt{{{prime}^{{{2 * (16_000 // prime.bit_length())}}}}}" for prime in PRIMES[:45]),
    ",".join(rf"\sqrt{{{prime}}}" for prime in PRIMES[:48]),
    ",".join(f"x+{prime}y<1" for prime in PRIMES[:48]),
    ":".join(f"{prime}^-{9_000 // prime.bit_length()}" for prime in PRIMES[:60]),
    "".join(f"(x+{prime})" for prime in PRIMES[:70]),
    r"2\frac{" * 22 + "1" + "}{3}" * 22,
    r"\{" * 90 + "1" + r"\}" * 90,
    r"\{1," * 60 + "1" + r"\}" * 60,
    "\ufdfa" * 999,
    "a" + "\u0301" * 999,
    "1" + " " * 990 + "2 not 3",
    "not 1" + " ," * 490,
    "1 rather than " * 70 + "1",
    r"\text{not " * 100,
    "one hundred and " * 60 + "one half",
    "(B) " * 240 + "1",
    "5/hour" * 160,
    r"5\text{" + "a a/" * 240 + "}",
]


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:30].encode("ascii", "replace").decode())
def test_no_answer_takes_two_seconds(bomb: str) -> None:
    for gold in ("4", r"\sqrt{2}", "x+1", r"\{\sqrt2,\sqrt3\}"):
        assert_in_time(gold, bomb, expected=False)
        assert_in_time(bomb, gold, expected=False)
    assert_in_time(bomb, bomb, expected=True)


def assert_in_time(left: str, right: str, *, expected: bool) -> None:
    """A busy machine is late once or twice, an answer that takes long always."""
    seconds = []
    while not seconds or (seconds[-1] >= LIMIT_SECONDS and len(seconds) < 3):
        start = time.monotonic()
        assert equivalent(left, right) is expected
        seconds.append(time.monotonic() - start)
    assert seconds[-1] < LIMIT_SECONDS, seconds


CODE = [
    "__import__('os').system('touch {path}')",
    "open('{path}', 'w')",
    "exec(\"open('{path}', 'w')\")",
    "().__class__.__base__.__subclasses__()",
    r"\write18{{touch {path}}}",
    r"\input{{{path}}}",
    "lambda: open('{path}', 'w')",
    "4 if open('{path}', 'w') else 4",
]


@pytest.mark.parametrize("code", CODE)
def test_code_in_an_answer_is_never_run(code: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    text = code.format(path=canary)
    assert not equivalent("4", text)
    assert not equivalent(text, "x+1")
    extract_answer(rf"\boxed{{{text}}}")
    assert not canary.exists()


HUGE = nodes.apply("mul", nodes.number(10**390), nodes.apply("pow", nodes.symbol("x"), nodes.number(1000)))
HARD = nodes.apply("add", *(nodes.apply("tan", nodes.apply("mul", nodes.number(term), HUGE)) for term in range(1, 300)))


def test_a_worker_that_runs_out_of_time_is_replaced() -> None:
    pytest.importorskip("mpmath")
    two = nodes.apply("root", nodes.number(4), nodes.number(2))
    for _ in range(2):
        assert symbolic.ask_worker("equal", HARD, nodes.symbol("y"), deadline=time.monotonic() + 0.3) is not True
        assert symbolic.ask_worker("equal", two, nodes.number(2), deadline=time.monotonic() + 10) is True


@pytest.mark.parametrize("error", [OSError("no more processes"), RuntimeError("can't start new thread")], ids=repr)
def test_a_worker_that_cannot_be_started_makes_answers_unequal_and_is_told_of_once(error, monkeypatch, caplog) -> None:
    pytest.importorskip("mpmath")

    def refuse(*_args: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(symbolic, "_pool", symbolic._Pool())
    symbolic._warn.cache_clear()
    with monkeypatch.context() as machine:
        machine.setattr(*((subprocess, "Popen") if isinstance(error, OSError) else (threading.Thread, "start")), refuse)
        assert [equivalent(r"\sqrt{8}", r"2\sqrt{2}") for _ in range(3)] == [False] * 3
        assert equivalent(r"\sqrt{8}", r"\sqrt8")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert str(error) in caplog.text
    assert equivalent(r"\sqrt{8}", r"2\sqrt{2}")
    symbolic._pool.close()


SYMBOLIC = [(r"\sqrt{8}", r"2\sqrt2", True), (r"\sqrt8", "3", False), ("(x+1)^2", "x^2+2x+1", True)]


def verdicts_are_right(index: int) -> bool:
    gold, prediction, expected = SYMBOLIC[index % len(SYMBOLIC)]
    return equivalent(gold, prediction) is expected


def test_many_threads_get_right_answers() -> None:
    pytest.importorskip("mpmath")
    assert verdicts_are_right(0)
    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(verdicts_are_right, range(120)))


async def test_an_event_loop_gets_right_answers() -> None:
    pytest.importorskip("mpmath")
    assert verdicts_are_right(0)
    assert all(await asyncio.gather(*(asyncio.to_thread(verdicts_are_right, index) for index in range(30))))


PROGRAM = """
import os, sys
from reasoningbank_langgraph.math_answers import equivalent
assert equivalent(r"\\sqrt{8}", r"2\\sqrt2")
child = os.fork()
if child == 0:
    os._exit(0 if equivalent(r"\\sqrt{12}", r"2\\sqrt3") else 1)
assert os.waitpid(child, 0)[1] == 0
assert equivalent(r"\\sqrt{18}", r"3\\sqrt2")
assert not {"sympy", "mpmath", "math_verify", "torch"} & set(sys.modules)
from reasoningbank_langgraph.math_answers import symbolic
print(*(worker._process.pid for worker in symbolic._pool._idle))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_workers_of_its_own_and_none_outlives_its_program() -> None:
    pytest.importorskip("mpmath")
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    (worker,) = map(int, done.stdout.split())
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
