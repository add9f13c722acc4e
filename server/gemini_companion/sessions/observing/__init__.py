"""What happens in sessions, as records without text: the last ones are kept, telemetry gets them all."""
