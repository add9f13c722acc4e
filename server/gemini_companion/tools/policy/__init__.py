"""Consent as a pure function: rules, mode, trust and what a call would touch, to allow, ask or deny."""
