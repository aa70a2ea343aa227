"""Masking for people who must trust it: scan a file, measure, report, estimate what is left."""
