"""The bundled math solver as a compiled graph, for `langgraph dev` and for import.

`langgraph.json` names `graph` and `embed`; the platform brings checkpointer and store. In your own program compile
`builder` with yours:

    app = builder.compile(checkpointer=..., store=ChromaStore.from_path("./bank"))
    app.invoke({"task": "What is 12 * 7?", "reference": "84"}, {"configurable": {"thread_id": "t1"}})

The model is the one `reasoningbank solve` would take: OPENAI_BASE_URL, else OPENAI_API_KEY, else the packaged one.
"""

from reasoningbank_langgraph import default_embeddings
from reasoningbank_langgraph.local.model_choice import resolve_model
from reasoningbank_langgraph.math_solver import create_math_solver

model = resolve_model(temperature=0)
builder = create_math_solver(model.chat)
graph = builder.compile(name="math_solver")


async def embed(texts: list[str]) -> list[list[float]]:
    """Embed texts for the store that the platform brings."""
    return await default_embeddings().aembed_documents(texts)
