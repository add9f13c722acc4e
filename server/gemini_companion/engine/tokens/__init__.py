"""The ledger: estimates, calibration, limits, breakdown."""
