"""Final answers of math problems: found in a reply, and compared with the known answer.

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
"""

from reasoningbank_langgraph.math_answers.agreement import final_answer, is_refusal, same_answer
from reasoningbank_langgraph.math_answers.compare import equivalent
from reasoningbank_langgraph.math_answers.extract import extract_answer
from reasoningbank_langgraph.math_answers.found import ExtractedAnswer

__all__ = ["ExtractedAnswer", "equivalent", "extract_answer", "final_answer", "is_refusal", "same_answer"]
