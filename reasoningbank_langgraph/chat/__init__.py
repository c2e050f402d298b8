"""Talking to any chat model: what to ask and how to read replies are pure functions, and every call has limits.

- `dialogue`: dialogues with a language model: what to ask and how to read the reply, as pure functions
- `model_caller`: carries dialogues to a model, with a token cap and a time limit on every call
- `reply_formats`: the formats in which a model can be asked for JSON, and those that a model is known to accept
- `token_caps`: caps on the tokens of a reply, named as the model's class and its server name them
- `models`: chat models by name: what every `model=` argument of the package accepts
- `parameters`: how many parameters a model has, and whether that makes it a weak one
- `context`: how many tokens a model's context holds, and how much of an attempt fits in
- `variants`: a chat model with other values in some of its fields, sharing everything else with the original
- `refusals`: what an error or a reply means: a reply format refused, a reply cut off, or an outage
- `outages`: logs failures that cost a verdict or lessons but not the run
- `tracing`: how memory's own runs are labelled in a trace: their tags and metadata
- `tally`: counts what models and embedders do for memory, apart from what the solver asks of models
- `streams`: keeps the package's calls out of `stream_mode="messages"`; they are still traced
- `threads`: calls in separate threads, because a call may never end
"""
