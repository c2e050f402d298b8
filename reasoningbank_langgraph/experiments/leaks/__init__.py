"""How an answer could reach the solver through the bank: in what it shows, or because train and test share a problem.

A lesson states an answer where it holds a number of the same value, sign aside: `1,000` or "a thousand" for 1000, `1/2`
or `50%` for 0.5. The numbers of a list do not count, and a number up to ten that is spelled out counts only behind a
word that announces a result: "the answer is three", not "in three steps". An answer that is no number is looked for as
it is written. A worked example is held to the same rule. The guard reads the numbers of a text; the audit writes the
answer in every form and looks for these, so that what one of them cannot read the other may find.

- `rule`: which spelled-out numbers count, the same for both
- `guard`: whether a lesson or an example states the answer of a problem, or is nearly the problem itself
- `digits`: the numbers that a text states in digits
- `number_words`: the numbers that a text spells out
- `audit`: leaks looked for again in the rows of a run, by other means than the guard's
- `answer_forms`: every form in which an answer may be written, and the search for them
- `spoken`: how a number is said
- `plain_words`: a text as the words and signs in which the forms are looked for
- `near_copies`: problems that are nearly the same
"""

from reasoningbank_langgraph.experiments.leaks.guard import gives_away, states_answer, tells_answer, texts_of
from reasoningbank_langgraph.experiments.leaks.near_copies import near_duplicates

__all__ = ["gives_away", "near_duplicates", "states_answer", "tells_answer", "texts_of"]
