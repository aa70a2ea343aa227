"""When it happens: settings, wiring, Dagster definitions and the ``tidemill`` command."""
