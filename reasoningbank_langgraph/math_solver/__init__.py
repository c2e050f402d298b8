"""TODO-MAP math_solver"""

from reasoningbank_langgraph.math_solver.solver import (
    MATH_NAMESPACE,
    check_step,
    create_math_solver,
    solve_prompt,
    solve_step,
)

__all__ = ["MATH_NAMESPACE", "check_step", "create_math_solver", "solve_prompt", "solve_step"]
