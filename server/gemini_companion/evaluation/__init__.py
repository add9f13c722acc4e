"""Measuring what compressions keep and cost: conversations, stand-in models, arms, numbers, reports."""
