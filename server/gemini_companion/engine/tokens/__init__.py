"""Counting tokens: every token number comes from here."""

from gemini_companion.engine.tokens.ledger import TokenLedger as TokenLedger
