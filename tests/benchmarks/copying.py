"""How often a real model hands a lesson it was shown back as a new one, when the attempt's messages hold the lessons.

    python -m tests.benchmarks.copying --problems FILE.jsonl --limit 20 --model MODEL

Every problem is solved with the same three lessons in a message before it, and that message stays in the trajectory
that the extractor reads. A copy is a lesson with the title of one of the three, or a content that is nearly theirs.
"""

import argparse
from difflib import SequenceMatcher
from pathlib import Path

from reasoningbank_langgraph import MemoryItem, RetrievedMemory
from reasoningbank_langgraph.extraction import Judged, LessonExtractor
from reasoningbank_langgraph.judges import ReferenceJudge
from reasoningbank_langgraph.local.model_choice import resolve_model
from reasoningbank_langgraph.math_solver import solve_step
from reasoningbank_langgraph.math_solver.problems import read_problems
from reasoningbank_langgraph.records import Attempt
from reasoningbank_langgraph.text import render_memories

NEAR = 0.8
"""From this similarity of letters on, two contents are copies."""
_TEXTS = (
    (
        "Find what the last sentence asks",
        "Use when a story holds more numbers than are needed.",
        "Read the question first, write down the quantity it asks for, and cross out every number that does not lead "
        "to it.",
    ),
    (
        "Check the unit of each step",
        "Use when quantities of different kinds are multiplied.",
        "After each multiplication say what the product counts; if it is not what the question names, another step is "
        "missing.",
    ),
    (
        "Groups before totals",
        "Use when equal groups are formed.",
        "Work out how many are in one group, then multiply by the number of groups, and only then subtract what was "
        "removed.",
    ),
)
SHOWN = [
    MemoryItem(title=title, description=when, content=what, outcome="success", task="another")
    for title, when, what in _TEXTS
]


def distil(chat, problem, extractor):
    """Solve a problem with the lessons before it and return what is distilled from that."""
    block = render_memories(SHOWN)
    reply = solve_step(chat, 300).invoke({"task": problem.text, "memory_prompt": block})
    attempt = Attempt(
        task=problem.text,
        messages=[("user", block), *reply["messages"]],
        answer=reply["answer"],
        reference=problem.answer,
        memories=[RetrievedMemory(item=item, why="shown") for item in SHOWN],
    )
    return extractor.invoke(Judged(attempt, ReferenceJudge()(attempt)))


def is_copy(lesson):
    """Say whether a lesson is one of those that were shown."""
    title, content = lesson["title"].casefold(), lesson["content"].casefold()
    return any(
        title == item.title.casefold() or SequenceMatcher(None, content, item.content.casefold()).ratio() > NEAR
        for item in SHOWN
    )


def main():
    """Print one line a lesson, then the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=Path, default=Path("examples/math_solver/problems.jsonl"))
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--model", help="named as in `reasoningbank solve`")
    options = parser.parse_args()
    problems, kept, copies, refused = read_problems(options.problems, options.limit), 0, 0, 0
    with resolve_model(options.model, temperature=0) as resolved:
        extractor = LessonExtractor(resolved.chat, time_limit=300)
        for problem in problems:
            distilled = distil(resolved.chat, problem, extractor)
            refused += distilled.dropped.get("copied", 0)
            for lesson in distilled.items:
                copied = is_copy(lesson)
                kept, copies = kept + 1, copies + copied
                print(f"{'COPY' if copied else 'new '} {lesson['title']}", flush=True)
    print(f"{len(problems)} attempts: {kept} lessons kept, {copies} of them copies; {refused} refused as copies")


if __name__ == "__main__":
    main()
