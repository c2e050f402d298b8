"""Changes of a bank that somebody asks for.

- `redistil`: making the lessons of a bank anew from its episodes: the model is asked, each experience is written
- `distillations`: putting new lessons in the place of the old ones of their experience, and taking them back
- `pruning`: taking lessons out of use by rule, and taking the last pruning back
- `merging`: merging lessons on request, as methods of a bank
- `merges`: one lesson in place of several that say the same: the originals stay as they are and can come back
- `forgetting`: removing lessons and episodes, with what was learned from them, or only taking them out of sight
"""
