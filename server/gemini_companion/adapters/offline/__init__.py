"""The built-in model: needs no key and no network, answers by quotation, and writes extractive snapshots."""
