"""Changes of a bank that somebody asks for.

- `redistil`: making the lessons of a bank anew from its episodes: the model is asked, each experience is written
- `distillations`: putting new lessons in the place of the old ones of their experience, and taking them back
- `pruning`: taking lessons out of use by rule, and taking the last pruning back
- `merging`: merging lessons on request, as methods of a bank
- `merges`: one lesson in place of several that say the same: the originals stay as they are and can come back
- `resolving`: learning from an attempt after its run, when somebody says whether it succeeded
- `verdicts`: a verdict that comes after the attempt: what changes in the bank
- `known_attempts`: what a bank has of one attempt: that it waits, its episode, its lessons, and what it was judged
- `forgetting`: removing lessons and episodes, with what was learned from them, or only taking them out of sight
"""
