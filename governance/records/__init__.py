"""Pure types: what the packages speak of. Each module is one noun; import from the module."""
