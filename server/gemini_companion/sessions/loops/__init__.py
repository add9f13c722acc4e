"""Loops of a model, noticed in a turn: it is told once, then the turn ends."""
