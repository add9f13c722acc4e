"""Models that write snapshots, good ones and bad ones, behind the port that Gemini stands behind."""
