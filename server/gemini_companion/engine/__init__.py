"""The pure core: no await, no clock, no file, no log, no framework. Time, ids and measured tokens are arguments."""
