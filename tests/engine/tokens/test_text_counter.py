"""Behaviour of the text estimators, of what a part costs, and of the samples whose true counts were measured."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.tokens.counters import IMAGE_TOKENS, PDF_TOKENS, count_content, count_part
from gemini_companion.engine.tokens.heuristic import HeuristicTokenCounter
from gemini_companion.engine.tokens.json_text import json_text
from gemini_companion.engine.tokens.lexical import SAMPLED_PAST, LexicalTokenCounter, cut
from gemini_companion.engine.tokens.prices import REMEMBERED_PIECES, PriceTable, price_of

COUNTER = LexicalTokenCounter()
ANY_TEXT = st.text(st.characters(), max_size=400)
LINES = st.text(st.sampled_from("abcXYZ 0189.,;:(){}[]\"'_-=+*/\\\t日本語のテストéüжд한국—…👍"), min_size=1, max_size=120).filter(str.strip)
PARAGRAPH = (
    "The session keeps its full log on disk, and the model is given a view of it. When the view grows past half of the "
    "context window, the oldest contents are replaced by a summary; nothing of the log is lost (see section 3.2).\n"
)
