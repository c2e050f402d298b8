"""Talk to any chat model: what to ask and how to read the reply are pure functions, and calls have limits.

- `dialogue`: talks with a language model in which what to ask and how to read the reply are pure functions
- `reply_formats`: the ways of asking a model for JSON, and what is known of how one model can be asked
- `models`: chat models by name: what every `model=` argument of the package accepts
- `context`: how much a model's context holds, and what of an attempt fits in beside instructions and reply
- `variants`: a chat model with other values in some of its fields
- `refusals`: what an error of a model's client, or a reply, says: a way of asking refused, a reply cut off
- `outages`: failures that cost a verdict or lessons and not the run: said aloud
- `streams`: calls of our own in a user's run: traced like all others, and kept out of `stream_mode="messages"`
- `threads`: calls in threads of their own: no call promises to end
"""
