"""The bundled solver for math problems, and the files problems come in.

- `solver`: the bundled solver: math problems, answered in a box, with a memory
- `problems`: problems from a JSONL file: one object a line with `problem`, and `id`
"""

from reasoningbank_langgraph.math_solver.solver import (
    MATH_NAMESPACE,
    check_step,
    create_math_solver,
    solve_prompt,
    solve_step,
)

__all__ = ["MATH_NAMESPACE", "check_step", "create_math_solver", "solve_prompt", "solve_step"]
