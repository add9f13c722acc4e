"""Noticing that a model goes round in circles: pure, incremental, of bounded memory."""
