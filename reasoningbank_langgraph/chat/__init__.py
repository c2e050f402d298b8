"""Talk to any chat model: what to ask and how to read the reply are pure functions, and every call has limits.

- `dialogue`: dialogues with a language model: what to ask and how to read the reply, as pure functions
- `model_caller`: carries dialogues to a model, with a token cap and a time limit on every call
- `reply_formats`: the formats in which a model can be asked for JSON, and what is known of those that one model accepts
- `token_caps`: caps on the tokens of a reply, under whatever name a model's class and its server know them
- `models`: chat models by name: what every `model=` argument of the package accepts
- `parameters`: how many parameters a model has, and whether that makes it a weak one
- `context`: how many tokens a model's context holds, and how much of an attempt fits in
- `variants`: a chat model with other values in some of its fields, sharing everything else with the original
- `refusals`: what an error or a reply means: a reply format refused, a reply cut off, or an outage
- `outages`: failures that cost a verdict or lessons but not the run are logged
- `streams`: the package's own calls in a user's run: traced, but kept out of `stream_mode="messages"`
- `threads`: calls in threads of their own, as a call may never end
"""
