"""Folders of adapters that nobody trained, and a server whose answers are known for all weights."""

import json
from contextlib import contextmanager
from hashlib import sha256
from types import SimpleNamespace

from reasoningbank_langgraph.local import adapter_in_use
from reasoningbank_langgraph.local.tuned import digest
from reasoningbank_langgraph.testing import ScriptedChatModel
from reasoningbank_langgraph.train import Card, Point
from reasoningbank_langgraph.train.adapters import list_adapters

ALL = set(range(20))
"""Numbers of all problems of the validation file."""
WORDS = ("apples", "bees", "carts", "drums", "eggs", "flutes", "geese", "horns", "inks", "jars", "kites")


def problem(number):
    word = WORDS[number % len(WORDS)]
    return {"id": f"p{number}", "problem": f"Problem {number}: how many {word} are there?", "answer": str(number)}


def problems_in(path, numbers):
    path.write_text("".join(f"{json.dumps(problem(number))}\n" for number in numbers))
    return path


def adapter_in(folder, name, *, base="base", tasks=(), data="", data_sha256=""):
    """The folder of a finished adapter."""
    folder.mkdir(exist_ok=True)
    gguf = folder.parent / f"{base}.gguf"
    gguf.write_text(base)
    (own := folder / name).mkdir()
    (own / f"{name}.gguf").write_text(name)
    Card(
        name=name,
        base=str(gguf),
        base_sha256=digest(gguf),
        adapter=f"{name}.gguf",
        settings={},
        data_sha256=data_sha256,
        train=8,
        validation=2,
        left_out=0,
        curve=[Point(0, None, 2.0), Point(4, 1.0, 1.5)],
        best_step=4,
        steps=4,
        seconds=1.0,
        peak_bytes=1,
        device="CPU",
        versions={},
        data=str(data),
        tasks=list(tasks),
    ).write(own)
    return own


class Servers:
    """Stand where `start_local_model` would start one.

    Args:
        right: by the name of an adapter, and `base`, the numbers of the problems that are answered rightly.

    Attributes:
        asked: weights and number of every problem, in order.
    """

    def __init__(self, **right):
        self.right, self.asked, self.before = right, [], lambda weights, number: None

    @contextmanager
    def start(self, base, *, adapter):
        def chat_model(*, adapted):
            weights = adapter.stem if adapted else base.stem
            return ScriptedChatModel(lambda messages: self._reply(weights, messages))

        yield SimpleNamespace(chat_model=chat_model, slots=2)

    def _reply(self, weights, messages):
        number = int(messages[-1].text.split(":")[0].split()[1])
        self.asked.append((weights, number))
        failure = self.before(weights, number)
        return failure or f"So it is \\boxed{{{number if number in self.right[weights] else 999}}}."


def sha256_of(text):
    return sha256(text.encode()).hexdigest()


def states(folder):
    return {one.name: one.state for one in list_adapters(folder)}


def used(folder):
    """The name of the adapter in use, None for the base."""
    adapter = adapter_in_use(folder).adapter
    return adapter and adapter.stem
