r"""Final answers of math problems: found in a reply, and compared with the known answer.

    found.py      what a search for the answer gives
    boxes.py      answers in boxes
    announced.py  answers that a line or a heading announces
    extract.py    the answer a reply ends with
    spelling.py   one spelling for the many ways to write the same symbol
    lexer.py      spelling -> tokens
    nodes.py      what an expression is made of
    mixed.py      the fraction of a mixed number
    grammar.py    tokens -> expression, by a closed grammar
    units.py      the unit an answer carries
    forms.py      what an answer can be: a number, a list, an interval, a matrix, ...
    prose.py      answers in words
    reading.py    text -> forms
    exact.py      rational values of expressions
    matching.py   whether two forms say the same
    symbolic.py   expressions with roots, functions and symbols, compared in a worker process
    worker.py     that process
    compare.py    the whole comparison, within its time limit
    agreement.py  whether two replies end with the same answer

No text is ever executed: there is no `eval` and no parser of another package anywhere on the way.

- `extract`: the final answer in a model's reply
- `announced`: answers that a line or a heading announces: "The final answer is 18."
- `boxes`: answers in boxes: the last one, or all that one list is made of, as in `\boxed{1}, \boxed{2} and \boxed{3}`
- `found`: what is found in a reply: its final answer, or why there is none
- `compare`: the whole comparison, within its time limit
- `reading`: text -> forms. An answer that can be read in two ways has two readings
- `forms`: what an answer can be
- `matching`: whether two forms say the same. The first is the known answer, the second the one under test
- `agreement`: whether two replies end with the same answer: as text, or as math
- `prose`: answers in words: names, choices, times of day, named sets
- `units`: the unit an answer carries: `36\text{ cm}`, `36 square feet`, `\$18`, `25\%`, `60^\circ`
- `mixed`: the fraction of a mixed number, `\frac13` in `2\frac13` or `1/3` in `2 1/3`: read ahead, never parsed twice
- `spelling`: one spelling for the many ways to write the same symbol
- `lexer`: spelling -> tokens
- `grammar`: tokens -> expression, by a closed grammar
- `nodes`: what an expression is made of
- `exact`: rational values of expressions, in plain integers and without a bound that an input could pass
- `symbolic`: expressions with roots, functions and symbols, compared in a worker process that can be killed
- `worker`: the process that compares expressions with roots, functions and symbols
"""

from reasoningbank_langgraph.math_answers.agreement import final_answer, is_refusal, same_answer
from reasoningbank_langgraph.math_answers.compare import equivalent
from reasoningbank_langgraph.math_answers.extract import extract_answer
from reasoningbank_langgraph.math_answers.found import ExtractedAnswer

__all__ = ["ExtractedAnswer", "equivalent", "extract_answer", "final_answer", "is_refusal", "same_answer"]
