"""The commands of ``tidemill``, one noun per module. Each imports what it runs only when it runs."""
