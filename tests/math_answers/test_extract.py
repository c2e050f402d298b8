"""The final answer of a reply is found, or the reason why there is none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reasoningbank_langgraph.math_answers import ExtractedAnswer, extract_answer
from tests.conftest import check_each

FOUND = [
    (r"So \boxed{42}.", "42"),
    (r"First \boxed{1}, then \boxed{2}.", "2"),
    (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
    (r"\boxed{\{1,2\}}", r"\{1,2\}"),
    (r"\boxed{\left\{ \frac{1}{2} \right\}}", r"\left\{ \frac{1}{2} \right\}"),
    (r"\boxed {7}", "7"),
    ("\\boxed{\n  7\n}", "7"),
    (r"\boxed 5", "5"),
    (r"\boxed 5.", "5"),
    (r"$\boxed 12$ apples", "12"),
    (r"\fbox{9}", "9"),
    (r"\boxed{\boxed{3}}", "3"),
    (r"An unclosed \boxed{ and later \boxed{8}", "8"),
    (r"<think>\boxed{1}</think>\boxed{2}", "2"),
    (r"<think>first</think> middle <think>\boxed{1}</think>\boxed{3}", "3"),
    (r"\boxed{1}</think>\boxed{2}", "2"),
    (r"<thinking>\boxed{1}</thinking> #### 6", "6"),
    ("She sells 9 eggs.\n#### 18", "18"),
    ("#### 1,234", "1,234"),
    ("#### $18.50", "$18.50"),
    ("#### -3\nThat is all.", "-3"),
    ("#### Step one\nwe add\n#### 12", "12"),
    ("Answer: 5\n#### 18", "18"),
    ("#### 18\nso \\boxed{19}", "19"),
    ("The final answer is 12.", "12"),
    ("The final answer is: $12$.", "$12$"),
    ("The final answer is $\\frac{1}{2}$. I hope it is correct.", "$\\frac{1}{2}$"),
    ("**Answer:** 18", "18"),
    ("**Final Answer:**\n\n18", "18"),
    ("Answer: $3.50", "$3.50"),
    ("The answer is 3.5.", "3.5"),
    ("the answer is 4\nand the final answer is 5\nthe answer is 6", "5"),
    ("The answer is not 5.\nAnswer: 6", "6"),
    ("Final answer: x = 3", "x = 3"),
    ("The correct answer is (B).", "(B)"),
    ("The answer is 73, because 70 + 3 is 73.", "73"),
    ("The final answer is therefore 73.", "73"),
    ("So the answer is: **73** apples", "73 apples"),
    ("So the answer is 2**3.", "2**3"),
    (r"\[ \text{Answer: } 73 \]", "73"),
    (r"An empty \boxed{}. But no: the answer is 6.", "6"),
    ("#### Final Answer: 73", "73"),
    ("Final Answer → 73", "73"),
    ("**Answer.** 73", "73"),
    ("Ans: `73`", "73"),
    ("So the final answer would be 73.", "73"),
    ("The answer, therefore, is 73.", "73"),
    ("Final Answer (in apples): 73", "73"),
    ("**Answer**: The answer is 73.", "73"),
    ("**Answer:** The number of apples is **73**.", "73"),
    (r"\begin{center}\textbf{Final Answer:} 73\end{center}", "73"),
    ("The final answer should be a fraction.\nAnswer: 1/2", "1/2"),
    ("#### **73**", "73"),
    (r"\boxed{\{\}}", r"\{\}"),
]

UNDER_A_HEADING = [
    ("### Final Answer\n\n**73**", "73"),
    ("## Final Answer\n73", "73"),
    ("**Final Answer**\n\n73", "73"),
    ("**Answer**\n73", "73"),
    ("Answer\n---\n73", "73"),
    ("4. Final Answer\n\n73 apples.", "73 apples"),
    ("### 4. **Final Answer**\n\n$73$", "$73$"),
    ("### Final Result ###\n73", "73"),
    ("#### Final Answer\n73", "73"),
    ("\\textbf{Final Answer}\n\n73", "73"),
    ("\\section*{Final Answer}\n\\[\n73\n\\]", "73"),
    ("**Final Answer** 73", "73"),
    ("**Final Answer**: 73", "73"),
    ("- **Final Answer:** 73", "73"),
    ("* Final answer:\n  73", "73"),
    ("Final answer:\n- 73", "73"),
    ("> **Final Answer**\n> 73", "73"),
    ("## ✅ Final Answer\n`73`", "73"),
    ("**Final Answer** ✅\n73", "73"),
    ("**Step 4: Final Answer**\n73 apples", "73 apples"),
    ("== Final Answer ==\n73", "73"),
    ("[Final Answer]\n73", "73"),
    ("Final Answer (apples)\n73", "73"),
    ("**Final Answer**\n\n- **Total apples:** 73", "73"),
    ("<h3>Final Answer</h3>\n<b>73</b>", "73"),
    ("### Answer\n```text\n73\n```", "73"),
    ("**Final Answer**\nJanet has **73** apples in all at the end of the day.", "73"),
    ("**Final Answer**\nJanet has 73 apples.", "73"),
    ("**Final Answer**\n\nJune 20", "June 20"),
    ("## Answer\nParis.", "Paris"),
    ("### Final Answer\nThe answer is 73.", "73"),
    ("Answer: 5\n### Final Answer\n73\n\nTell me if the answer: helps", "73"),
]

IN_SEVERAL_BOXES = [
    (r"\boxed{1}, \boxed{2} and \boxed{3}", "1, 2, 3"),
    (r"$\boxed{1}$, $\boxed{2}$, and $\boxed{3}$.", "1, 2, 3"),
    (r"$x=\boxed{1}$ or $x=\boxed{2}$ or $x=\boxed{3}$", "1 or 2 or 3"),
    (r"\[ x_1=\boxed{1} \quad\text{and}\quad x_2=\boxed{2} \]", "1, 2"),
    (r"$x=\boxed{1}$ and $y=\boxed{2}$", "x=1, y=2"),
    (r"\boxed{1,000} and \boxed{2,000}", "1,000; 2,000"),
    (r"\boxed{4}. So \boxed{1} and \boxed{2}", "1, 2"),
    (r"\boxed{1} and \boxed{2}. So \boxed{3}", "3"),
    (r"\boxed{5}, so it is \boxed{7}", "7"),
    (r"The area is \boxed{6}, the perimeter is \boxed{12}", "12"),
    ("\\boxed{1},\n\n\\boxed{2}", "2"),
    (r"\boxed{1 and \boxed{2}", "2"),
]

MISSING = [
    ("", "empty"),
    (" \n\t ", "empty"),
    (r"<think>I know: \boxed{3}</think>", "empty"),
    (r"<think>I know: \boxed{3}", "truncated"),
    (r"\boxed{3} <think> wait", "truncated"),
    (r"\boxed{12", "truncated"),
    (r"\boxed{\frac{1}{2}", "truncated"),
    (r"\boxed", "truncated"),
    (r"\boxed{1} and finally \boxed{2", "truncated"),
    ("The final answer is", "truncated"),
    ("I do not know.", "no_marker"),
    ("There are 12 apples left", "no_marker"),
    ("#### Step 1\nWe add the two numbers and see.", "no_marker"),
    (r"Put it in \boxed.", "no_marker"),
    (r"\boxedness{4}", "no_marker"),
    (r"\boxed{3} and an empty \boxed{}", "empty"),
    (r"\boxed{3}, \boxed{4} and \boxed{ }", "empty"),
    (r"The answer is 4, so $\fbox{\text{}}$.", "empty"),
    (r"\boxed{\text{ }\,\quad}", "empty"),
    (r"\boxed{\boxed{}}", "empty"),
    (r"\boxed{?}", "empty"),
    ("The answer is 5.\nThe answer is .", "empty"),
    ("The answer is 5.\n**Final Answer:**", "empty"),
    ("The final answer is 5. No.\n### Final Answer\n---", "empty"),
    ("\\boxed{5}\n\nFinal answer:", "empty"),
    ("#### 5\n####", "empty"),
    ("### Final Answer\n\nIt was not possible to work this out.", "no_marker"),
    ("**Final Answer**\n\nSee above.", "no_marker"),
    ("## Answer\nWe first add both numbers.\nThen we halve the sum.", "no_marker"),
    ("Answer\n\nStep 1: add 3\nStep 2: add 70", "no_marker"),
    ("**Final Answer**\nThe 3 boys and the 4 girls are all there is to count in it.", "no_marker"),
]


@check_each(FOUND + IN_SEVERAL_BOXES)
def test_the_marked_answer_is_found(reply: str, answer: str) -> None:
    assert extract_answer(reply) == ExtractedAnswer(answer, None)


@check_each(UNDER_A_HEADING)
def test_an_answer_under_a_heading_is_found(reply: str, answer: str) -> None:
    assert extract_answer("We add 3 and 70.\n\n" + reply) == (answer, None)


@check_each(MISSING)
def test_a_missing_answer_has_its_reason(reply: str, reason: str) -> None:
    assert extract_answer(reply) == (None, reason)


TAGS = ("<think>", "</think>", "\\boxed{", "\\boxed ", "#### ", "answer is ", "answer: ", "final ", ". A")
PARTS = (*TAGS, *"{}\\ \n*1")


@given(st.one_of(st.text(), st.lists(st.sampled_from(PARTS)).map("".join)))
def test_any_text_gives_either_an_answer_or_a_reason(reply: str) -> None:
    text, reason = extract_answer(reply)
    assert (text is None) is (reason in ("truncated", "empty", "no_marker"))
    assert text is None or text.strip()
