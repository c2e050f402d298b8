"""Model reply -> verdict or items: tolerant of form, strict about meaning.

Pure functions: no model is called, nothing is raised, and garbage of any length is refused in bounded time.

- `verdicts`: a judge's reply as a `Verdict`: three states, and never a raise
- `claims`: what the objects of a judge's reply claim about the attempt
- `standing`: whether something in a model's reply is its answer, or a quotation
- `words`: reads a model's status word: success, failure, undecided, or nothing that can be relied on
- `lines`: the paper's `Status:` lines in a judge's reply, and lines of their kind
- `sentences`: what the sentences of a judge's reply say outright of the attempt: "This is a failure"
- `vocabulary`: the words of sentences that judge an attempt outright, in the languages whose lead-ins are read
- `items`: an extractor's reply as memory items: whole ones only, as the model worded them
- `answers`: any reply in JSON: one field of what it gives as its answer
- `replies`: what a model's reply says, apart from where its server put it: text, tool calls, and how it ended
- `objects`: finds the JSON objects in a model's text: in fences, in prose, with the usual mistakes, in bounded time
- `json_text`: JSON text as values: strictly first, then with the usual slips mended, in bounded time and depth
- `escapes`: backslashes in JSON that a model wrote: LaTeX commands stay commands, newlines stay newlines
"""

from reasoningbank_langgraph.parsing.items import ItemsReason, ParsedItems, parse_items
from reasoningbank_langgraph.parsing.verdicts import parse_verdict

__all__ = ["ItemsReason", "ParsedItems", "parse_items", "parse_verdict"]
