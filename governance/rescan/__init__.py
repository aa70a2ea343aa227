"""Searching for what is left of a person: what is looked for, how containers are opened, what was found where."""
