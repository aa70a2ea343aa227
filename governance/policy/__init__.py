"""Pure verdicts over records: no clock, no table, no network. Import from the module."""
