"""OpenTelemetry: records as spans, metrics and logs, to a collector or a file. Loaded only where it is turned on."""
