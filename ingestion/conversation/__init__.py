"""The conversation of a trace, out of spans that repeat, cut and leave out. The theory is in ``ingestion.turns``."""
