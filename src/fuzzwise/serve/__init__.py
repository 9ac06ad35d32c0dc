"""The live page and the metrics of campaigns, read-only, from their stores alone."""
