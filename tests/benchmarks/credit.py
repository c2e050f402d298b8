"""What the usual counter and ours say of planted lessons: simulated, no model.

python -m tests.benchmarks.credit
"""

from ..policies.lesson_world import see_all, selected_by_disagreement  # noqa: TID252 - the world of the tests


def main():
    """Print the two values of each lesson, and what unfair partners would give a useless one."""
    print(
        "150 tasks a lesson, 4 attempts at each, 2 of them with the lesson; easy tasks: 90 % solved without, hard: 30 %"
    )
    print("| planted | true effect | (s + 1)/(u + 2) | right with | right without | ties | utility | quarantined |")
    print("|---|---|---|---|---|---|---|---|")
    for planted, credit, confounded in see_all():
        counts = f"{credit.right_with} | {credit.right_without} | {credit.ties}"
        harmful = "yes" if credit.is_harmful else "no"
        values = f"{planted.effect:+.2f} | {confounded:.2f} | {counts} | {credit.utility:+.3f} | {harmful}"
        print(f"| {planted.name} | {values} |")
    utility = selected_by_disagreement(tasks=1000).utility
    print(f"\na useless lesson that is shown only where attempts without it disagree, against those: {utility:+.3f}")


if __name__ == "__main__":
    main()
