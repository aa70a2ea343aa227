"""``tidemill keys``: the keys of this data home, by epoch, and the rotation of the one that makes surrogates.

Only the surrogate key can be rotated here: a wrapping key that is lost or changed makes what it wraps unreadable, and
the subject key names every stored person (docs/compliance.md).
"""

from __future__ import annotations

import click

from pipelines.commands.output import Result, reports


@click.group()
def keys() -> None:
    """Show the epochs of the keys, and rotate the surrogate key."""


@keys.command(epilog="Example: tidemill keys show --json")
@reports
def show() -> Result:
    """Name each key's epoch: it changes with the key and tells nothing of it."""
    from governance.keys import FileKeyProvider
    from governance.ports.keys import KeyName
    from pipelines.settings import load_settings

    held = FileKeyProvider(load_settings().keys)
    return {name.value: held.epoch(name) for name in KeyName}


@keys.command(epilog="Example: tidemill keys rotate surrogate")
@click.argument("name", type=click.Choice(["surrogate"]))
@reports
def rotate(name: str) -> Result:
    """Open a new epoch: equal values get other surrogates from now on, and nothing joins across.

    Stop what runs first (`tidemill down`): a process keeps the key that it read. What was masked before stays as it
    is. Worlds are masked again when an app reports them, and runs of the old epoch give no task in them.
    """
    from governance.keys import FileKeyProvider
    from governance.ports.keys import KeyName
    from pipelines.settings import load_settings

    old, new = FileKeyProvider(load_settings().keys).rotate(KeyName(name))
    return {"key": name, "old_epoch": old, "epoch": new}
