"""Records what a model replies when it is asked for lessons, to lesson_replies.jsonl: each kind of request in turn.

    python -m tests.data.make_lesson_replies --model MODEL [--problems 6]

The problems are those of examples/math_solver. Rows are appended; the same model and problem are not asked again.
"""

import argparse
import json
from pathlib import Path

from langchain_core.callbacks import BaseCallbackHandler

from reasoningbank_langgraph.extraction import Judged, LessonExtractor
from reasoningbank_langgraph.extraction.contrast import contrast
from reasoningbank_langgraph.judges import ReferenceJudge
from reasoningbank_langgraph.local.model_choice import resolve_model
from reasoningbank_langgraph.math_solver import solve_step
from reasoningbank_langgraph.math_solver.problems import read_problems
from reasoningbank_langgraph.records import Attempt

PROBLEMS = Path(__file__).parents[2] / "examples/math_solver/problems.jsonl"
REPLIES = Path(__file__).with_name("lesson_replies.jsonl")
ATTEMPTS = 3


class Replies(BaseCallbackHandler):
    """Keeps what the model said."""

    def __init__(self):
        self.texts = []

    def on_llm_end(self, response, **_):
        self.texts.append(response.generations[0][0].text)


def attempts_at(chat, problem):
    """Return judged attempts at a problem: one at temperature 0 and others."""
    for number in range(ATTEMPTS):
        solver = solve_step(chat.model_copy(update={"temperature": 0.9 if number else 0.0, "seed": number}), 300)
        reply = solver.invoke({"task": problem.text, "memory_prompt": ""})
        attempt = Attempt(
            task=problem.text, messages=reply["messages"], answer=reply["answer"], reference=problem.answer
        )
        yield Judged(attempt, ReferenceJudge().invoke(attempt))


def record(chat, group, name, *, weak):
    """Yield a row for each kind of request about these attempts."""
    extractor = LessonExtractor(chat, weak=weak)
    asked = {
        status: [judged for judged in group if judged.verdict.status == status][:1] for status in ("success", "failure")
    }
    for kind, about in {**asked, "contrast": group}.items():
        if not about or (weak and kind != "success"):
            continue
        replies = Replies()
        dialogue = contrast(about, extractor.limits) if kind == "contrast" else extractor.dialogue(about[0])
        found = extractor.caller.run(dialogue, {"callbacks": [replies]})
        if not replies.texts:
            continue
        yield {
            "model": name,
            "kind": kind,
            "weak": weak,
            "parameters": extractor.limits.parameters,
            "task": about[0].attempt.task,
            "reference": about[0].attempt.reference,
            "attempts": [one.attempt.messages[-1].text for one in about],
            "replies": replies.texts,
            "lessons": found.items,
            "reason": found.reason,
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--problems", type=int, default=6)
    options = parser.parse_args()
    done = [json.loads(line) for line in REPLIES.read_text().splitlines()] if REPLIES.exists() else []
    with resolve_model(options.model, temperature=0) as choice, REPLIES.open("a") as file:
        name = choice.chat.model_name
        known = {(row["task"], row["weak"]) for row in done if row["model"] == name}
        for problem in list(read_problems(PROBLEMS))[:: 84 // options.problems][: options.problems]:
            forms = [weak for weak in (True, False) if (problem.text, weak) not in known]
            group = list(attempts_at(choice.chat, problem)) if forms else []
            for weak in forms:
                file.writelines(
                    json.dumps(row, ensure_ascii=False) + "\n" for row in record(choice.chat, group, name, weak=weak)
                )
                file.flush()


if __name__ == "__main__":
    main()
