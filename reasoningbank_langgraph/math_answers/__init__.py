r"""Final answers of math problems: found in a reply, and compared with the known answer.

No text is ever executed: there is no `eval`, and no other package parses it.

- `extract`: the final answer in a model's reply
- `announced`: answers that a line or a heading announces: "The final answer is 18."
- `boxes`: answers in boxes: the last one, or all that one list is made of, as in `\boxed{1}, \boxed{2} and \boxed{3}`
- `found`: the result of a search for the answer: the answer, or why there is none
- `agreement`: whether two replies end with the same answer: as text, or as math
- `compare`: whether an answer is the known one, within a time limit, and how that compares with math-verify
- `spelling`: one spelling for the many ways to write the same symbol
- `lexer`: spelling -> tokens, and the fraction of a mixed number, `\frac13` in `2\frac13` or `1/3` in `2 1/3`
- `grammar`: tokens -> expression, by a closed grammar
- `nodes`: what an expression is made of
- `units`: the unit an answer carries: `36\text{ cm}`, `36 square feet`, `\$18`, `\$5/hour`, `25\%`, `60^\circ`
- `prose`: answers in words: names, choices, times of day, named sets, and numbers: "five sixths", "two and a half"
- `asides`: what an answer says beside its value: the letter of a choice, `(B) 12`, or a value it rejects, `12, not 15`
- `forms`: what an answer can be: a number, a list, an interval, a matrix, an equation, words
- `inequalities`: inequalities as intervals and relations
- `reading`: text -> forms; an answer that can be read in two ways has two readings
- `matching`: whether two forms say the same
- `exact`: exact values of rational expressions, with bounded work
- `symbolic`: expressions with roots, functions and symbols, sent to a worker process that can be killed
- `worker`: the process that compares such expressions numerically
"""

from reasoningbank_langgraph.math_answers.agreement import final_answer, is_refusal, same_answer
from reasoningbank_langgraph.math_answers.compare import equivalent
from reasoningbank_langgraph.math_answers.extract import extract_answer
from reasoningbank_langgraph.math_answers.found import ExtractedAnswer

__all__ = ["ExtractedAnswer", "equivalent", "extract_answer", "final_answer", "is_refusal", "same_answer"]
