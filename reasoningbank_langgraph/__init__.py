"""ReasoningBank for LangGraph: agents that learn from what worked and what failed."""
