"""Model reply -> verdict or items: tolerant of form, strict about meaning.

Pure functions: no model is called, nothing is raised, and garbage of any length is refused in bounded time.

- `verdicts`: a judge's reply as a `Verdict`: three states, and never a raise
- `claims`: what the JSON objects of a judge's reply claim about the attempt
- `status_lines`: the paper's `Status:` lines in a judge's reply, and similar lines
- `status_sentences`: sentences of a judge's reply that say outright how the attempt went, such as "This is a failure"
- `vocabulary`: the words of such sentences, in nine languages
- `status_words`: what one status value says: success, failure, undecided, or nothing that can be relied on
- `quotes`: whether something in a reply is its answer or a quotation, by where it stands and what introduces it
- `items`: an extractor's reply as memory items: whole ones only, as the model worded them
- `answers`: any reply in JSON: the object that gives one field
- `replies`: the text of a reply, its tool calls and how it ended, wherever its server put them
- `json_objects`: finds the JSON objects in a model's text, in bounded time
- `json_text`: JSON text as values: strictly first, then with the usual mistakes mended, in bounded time and depth
- `json_escapes`: backslashes in JSON that a model wrote: LaTeX commands stay commands, newlines stay newlines
"""

from reasoningbank_langgraph.parsing.items import ItemsReason, ParsedItems, parse_items
from reasoningbank_langgraph.parsing.verdicts import parse_verdict

__all__ = ["ItemsReason", "ParsedItems", "parse_items", "parse_verdict"]
