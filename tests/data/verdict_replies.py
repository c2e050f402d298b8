r"""Judge replies and what they say: `(name, reply, status, reason, confidence)`.

A reply is a text, or the parts of an AI message: `content`, `finish` (the finish reason), `tool_calls`, `extra`
(additional_kwargs).
"""

# ruff: noqa: E501 - a case reads best on one line
from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    name: str
    reply: Any
    status: str
    reason: str | None = None
    confidence: float | None = None


def _call(args: Any) -> list[dict[str, Any]]:
    return [{"name": "verdict", "args": args, "id": "c1", "type": "tool_call"}]


WHOLE = '{"status": "success", "confidence": 0.9, "rationale": "each step holds"}'
FAILED = '{"status": "failure", "confidence": 0.8, "rationale": "the units are wrong"}'

CASES = [
    # Forms
    Case("plain JSON", WHOLE, "success", None, 0.9),
    Case("plain JSON, failure", FAILED, "failure", None, 0.8),
    Case("in a fence", f"```json\n{WHOLE}\n```", "success", None, 0.9),
    Case("in a fence that never closes", f"```json\n{FAILED}", "failure", None, 0.8),
    Case("in prose", f"Here is my judgment: {FAILED} I hope it helps.", "failure", None, 0.8),
    Case("after LaTeX in prose", rf"As $\frac{{1}}{{2}} \ne {{x}}$, {FAILED}", "failure", None, 0.8),
    Case("paper's two lines", "Thoughts: all parts are answered.\nStatus: success", "success"),
    Case("paper's two lines, failure", "Thoughts: step 3 is a slip.\nStatus: failure", "failure"),
    Case("quoted status line", 'Thoughts: fine.\nStatus: "success"', "success"),
    Case("bold status line", "**Thoughts:** fine.\n**Status:** failure.", "failure"),
    Case("bold name only", "**Status**: success", "success"),
    Case("status heading", "## Thoughts\nfine\n## Status\nsuccess", "success"),
    Case("list marker", "- Status: failure", "failure"),
    Case("full-width colon", "Status：success", "success"),
    Case("one word", "Failure.", "failure"),
    Case("one word, bold", "**success**", "success"),
    Case("wrapped in a call", '{"name": "verdict", "arguments": ' + WHOLE + "}", "success", None, 0.9),
    Case("wrapped, arguments as text", '{"name": "v", "arguments": "{\\"status\\": \\"failure\\"}"}', "failure"),
    Case("in a list", f"[{WHOLE}]", "success", None, 0.9),
    Case("tool call", {"tool_calls": _call({"status": "failure", "confidence": 1})}, "failure", None, 1.0),
    Case("tool call beside prose", {"content": "Status: success", "tool_calls": _call({"status": "failure"})}, "failure"),
    Case("tool call cut", {"tool_calls": _call({"status": "success"}), "finish": "length"}, "indeterminate", "truncated"),
    Case("raw tool call", {"extra": {"tool_calls": [{"function": {"name": "v", "arguments": WHOLE}}]}}, "success", None, 0.9),
    Case("content blocks", {"content": [{"type": "text", "text": WHOLE[:20]}, {"type": "text", "text": ""}]}, "indeterminate", "truncated"),
    Case("one content block", {"content": [{"type": "thinking", "thinking": FAILED}, {"type": "text", "text": WHOLE}]}, "success", None, 0.9),
    Case("upper case and spaces in keys", '{" Status ": "SUCCESS", "Confidence": "0.5"}', "success", None, 0.5),
    # Mistakes that are mended
    Case("trailing comma", '{"status": "success", "confidence": 0.9,}', "success", None, 0.9),
    Case("single quotes", "{'status': 'failure', 'confidence': 0.2, 'rationale': 'it\\'s off'}", "failure", None, 0.2),
    Case("apostrophe in single quotes", "{'status': 'failure', 'rationale': 'doesn't follow'}", "failure"),
    Case("Python literals", "{'success': True, 'confidence': None}", "success"),
    Case("smart quotes", "{“status”: “success”, “confidence”: 0.7}", "success", None, 0.7),
    Case("bare keys", '{status: "failure", confidence: 0.4}', "failure", None, 0.4),
    Case("comment", '{"status": "success", // sure\n "confidence": 0.9}', "success", None, 0.9),
    Case("quotes inside", '{"status": "failure", "rationale": "it says "done" early"}', "failure"),
    Case("raw newline inside", '{"status": "failure", "rationale": "one\ntwo"}', "failure"),
    Case("LaTeX inside", r'{"status": "failure", "rationale": "\sqrt{2} \neq \frac{3}{2}"}', "failure"),
    Case("braces in a text", '{"status": "success", "rationale": "the set {1, 2} and \\"}\\" match"}', "success"),
    # Confidence
    Case("confidence over one", '{"status": "success", "confidence": 95}', "success"),
    Case("negative confidence", '{"status": "failure", "confidence": -0.1}', "failure"),
    Case("NaN", '{"status": "success", "confidence": NaN}', "success"),
    Case("infinite", '{"status": "success", "confidence": 1e999}', "success"),
    Case("per cent", '{"status": "success", "confidence": "90%"}', "success", None, 0.9),
    Case("word", '{"status": "success", "confidence": "high"}', "success"),
    Case("boolean", '{"status": "success", "confidence": true}', "success"),
    Case("huge integer", '{"status": "success", "confidence": ' + "9" * 400 + "}", "success"),
    # Other names
    Case("success true", '{"success": true}', "success"),
    Case("success false", '{"success": false, "reason": "no"}', "failure"),
    Case("success 1", '{"success": 1}', "success"),
    Case("verdict correct", '{"verdict": "correct"}', "success"),
    Case("verdict incorrect", '{"verdict": "Incorrect"}', "failure"),
    Case("result pass", '{"result": "PASS"}', "success"),
    Case("failed true", '{"failed": true}', "failure"),
    Case("is_correct false", '{"is_correct": false}', "failure"),
    # Negations and reservations
    Case("not successful", "Status: not successful", "failure"),
    Case("unsuccessful", '{"status": "unsuccessful"}', "failure"),
    Case("was not a success", "Status: the attempt was not a success", "failure"),
    Case("no success", "Status: no success", "failure"),
    Case("success, then a negation", "Status: success not shown", "indeterminate", "unparsed"),
    Case("wasn't correct", '{"verdict": "It wasn\'t correct."}', "failure"),
    Case("yes", '{"success": "yes"}', "success"),
    Case("no", '{"correct": "no"}', "failure"),
    Case("not a failure", "Status: not a failure", "indeterminate", "unparsed"),
    Case("caveats", '{"status": "PASS (with caveats)"}', "indeterminate", "unparsed"),
    Case("caveats, bare", '"PASS (with caveats)"', "indeterminate", "unparsed"),
    Case("partial", '{"status": "partially correct"}', "indeterminate", "unparsed"),
    Case("success but", "Status: success, but the units are missing", "indeterminate", "unparsed"),
    Case("both words", "Status: success or failure", "indeterminate", "unparsed"),
    Case("both words, piped", '{"status": "success|failure"}', "indeterminate", "unparsed"),
    Case("success with an explanation", "Status: success. The agent skipped no step.", "success"),
    Case("success in prose only", "The attempt was a success, I think.", "indeterminate", "unparsed"),
    Case("caveats beside a flag", '{"status": "success with caveats", "success": true}', "indeterminate", "unparsed"),
    Case("contradicting keys", '{"status": "success", "success": false}', "indeterminate", "unparsed"),
    Case("contradicting forms", f"{WHOLE}\nStatus: failure", "indeterminate", "unparsed"),
    Case("other word", '{"status": "completed"}', "indeterminate", "unparsed"),
    # The judge cannot tell
    Case("indeterminate", '{"status": "indeterminate", "rationale": "no steps"}', "indeterminate", "no_evidence"),
    Case("cannot determine", "Status: cannot determine", "indeterminate", "no_evidence"),
    # Echoes
    Case("schema first", '{"type": "object", "properties": {"status": {"enum": ["success", "failure"]}}}\n' + FAILED, "failure", None, 0.8),
    Case("schema only", '{"type": "object", "properties": {"status": {"type": "string"}}}', "indeterminate", "unparsed"),
    Case("format only", '{"status": "success" | "failure", "confidence": 0..1, "rationale": "..."}', "indeterminate", "unparsed"),
    Case("format in our prompt's words", '{"rationale": "why, in one or two sentences", "status": "success"}', "indeterminate", "unparsed"),
    Case("example first", '{"status": "success", "confidence": 1.0, "rationale": "..."}\n' + FAILED, "failure", None, 0.8),
    Case("example only", '{"status": "success", "confidence": 1.0, "rationale": "<reason>"}', "indeterminate", "unparsed"),
    Case("changes its mind", f"{WHOLE}\nOn second thought:\n{FAILED}", "failure", None, 0.8),
    Case("quotes the attempt after its verdict", FAILED + '\nThe attempt ended in {"verdict": "success", "reason": "ok"}', "failure", None, 0.8),
    Case("quotes the attempt's line", 'It ends with "Status: success" in its text.\nStatus: failure', "failure"),
    Case("status lines, last counts", "Status: success\nChecking again.\nStatus: failure", "failure"),
    Case("format line first", "Status: <success or failure>\nStatus: success", "success"),
    Case("status line in a JSON text", '{"status": "failure", "rationale": "it wrote\nStatus: success"}', "failure"),
    # Thinking
    Case("thinking", f"<think>maybe {WHOLE}</think>\n{FAILED}", "failure", None, 0.8),
    Case("thinking, opened by the prompt", f"maybe Status: success</think>\n{FAILED}", "failure", None, 0.8),
    Case("thinking only", f"<think>maybe {WHOLE}</think>", "indeterminate", "unparsed"),
    Case("thinking cut", f"<think>so far {WHOLE} but", "indeterminate", "truncated"),
    Case("thinking cut at the start", "<think>", "indeterminate", "truncated"),
    Case("tag inside the JSON", '{"status": "failure", "rationale": "it left <think> open"}', "failure"),
    Case("harmony channels", f"<|channel|>analysis<|message|>{WHOLE}<|end|><|channel|>final<|message|>{FAILED}", "failure", None, 0.8),
    # Reasoning fields
    Case("reasoning field, stop", {"extra": {"reasoning_content": FAILED}, "finish": "stop"}, "failure", None, 0.8),
    Case("reasoning field, length", {"extra": {"reasoning_content": WHOLE}, "finish": "length"}, "indeterminate", "truncated"),
    Case("reasoning field, no finish", {"extra": {"reasoning_content": WHOLE}}, "indeterminate", "unparsed"),
    Case("reasoning field beside content", {"content": FAILED, "extra": {"reasoning_content": WHOLE}, "finish": "stop"}, "failure", None, 0.8),
    # Truncation
    Case("cut in the key", '{"status": "success", "confid', "indeterminate", "truncated"),
    Case("cut in the text", '{"status": "success", "confidence": 0.9, "rationale": "The ans', "indeterminate", "truncated"),
    Case("cut at length", {"content": "Thoughts: it is right\nStatus: success", "finish": "length"}, "indeterminate", "truncated"),
    Case("whole at length", {"content": WHOLE + "\n" * 500, "finish": "length"}, "success", None, 0.9),
    Case("babble at length", {"content": WHOLE + "\nThen I would", "finish": "length"}, "indeterminate", "truncated"),
    Case("Anthropic's word", {"content": "Status: success", "meta": {"stop_reason": "max_tokens"}}, "indeterminate", "truncated"),
    Case("Google's word", {"content": "Status: success", "meta": {"finish_reason": "MAX_TOKENS"}}, "indeterminate", "truncated"),
    Case("Ollama's word", {"content": "Status: success", "meta": {"done_reason": "length"}}, "indeterminate", "truncated"),
    Case("second object cut", f'{WHOLE}\nCorrection: {{"status": "fai', "indeterminate", "truncated"),
    Case("last brace missing, stopped by itself", {"content": WHOLE[:-1], "finish": "stop"}, "success", None, 0.9),
    Case("last brace missing", WHOLE[:-1], "indeterminate", "truncated"),
    Case("text missing too, stopped by itself", {"content": WHOLE[:-8], "finish": "stop"}, "indeterminate", "truncated"),
    Case("endless spaces in the object", '{"status":' + " " * 50_000, "indeterminate", "truncated"),
    Case("endless spaces after", WHOLE + " " * 50_000, "success", None, 0.9),
    Case("unmatched brace before", f"for {{x: 1 we have {WHOLE}", "success", None, 0.9),
    # Refusals, errors, nothing
    Case("refusal", "I'm sorry, but I can't help with that.", "indeterminate", "refused"),
    Case("refusal, curly apostrophe", "I’m sorry, I can’t assist with that request.", "indeterminate", "refused"),
    Case("refusal, unable", "As an AI model I am unable to judge this attempt.", "indeterminate", "refused"),
    Case("refusal field", {"extra": {"refusal": "no"}}, "indeterminate", "refused"),
    Case("content filter", {"content": WHOLE, "finish": "content_filter"}, "indeterminate", "refused"),
    Case("apology inside an answer", "Sorry for the length.\nStatus: failure", "failure"),
    Case("empty", "", "indeterminate", "unparsed"),
    Case("spaces", " \n\t ", "indeterminate", "unparsed"),
    Case("no content", {"content": []}, "indeterminate", "unparsed"),
    Case("no message", None, "indeterminate", "error"),
    Case("server error", {"content": "", "finish": "error"}, "indeterminate", "error"),
    Case("empty object", "{}", "indeterminate", "unparsed"),
    Case("lone surrogate", '{"status": "failure", "rationale": "\\ud800"}', "failure"),
]  # fmt: skip
