"""Finding what was said: passages of entries, queries, and how what they find is ranked.

A word finds a passage by its stem, an identifier by its parts. What a word gives is spread over the turns beside the
one that holds it, since an answer rarely repeats the words of its question. `evaluation.recall` measures it all.
"""
