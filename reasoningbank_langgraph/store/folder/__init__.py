"""The folder of an embedded bank: who may open it, who may read it, and what Chroma leaves in it.

- `opening`: the folder opened for one store: checked, private, locked, with Chroma running in it
- `lock`: the lock that keeps the folder to one writer
- `privacy`: folder and files are for their owner alone: 0700 and 0600, also where they existed before
- `cleaning`: what Chroma, a crash or a replaced collection leaves in the folder
- `serving`: a Chroma server for the folder in this very process
"""
