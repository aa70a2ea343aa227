"""The demo's HTML report: charts and a template over one summary of measured values."""
