"""Copies of good texts, spoiled or harmless, to measure what a judge notices. No model, no Django.

`planting.plant` makes the copies, `documents` knows which parts of a text may be edited, and each module of
`edits/` makes one kind of copy. The same text and seed give the same copies.
"""
