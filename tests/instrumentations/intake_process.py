"""The intake in a process of its own, both doors open and no gateway, until SIGTERM; settings from the environment."""

from __future__ import annotations

import asyncio

from ingestion.intake import Intake
from pipelines import control
from pipelines.settings import load_settings
from pipelines.tenant_keys import LiveTenantKeys
from pipelines.wiring import Mill


def main() -> None:
    """Serve what ``tidemill control`` serves at the intake's two ports."""
    settings = load_settings()
    with Mill(settings) as mill:
        keys = LiveTenantKeys(mill.tenant_keys)
        intake = Intake(mill.spool, keys, clock=mill.clock, ledger=mill.store.ledger.lines)
        servers = [control.intake_server(intake, settings)]
        asyncio.run(control.run(servers, control.grpc_door(intake, settings), intake.leave))


if __name__ == "__main__":
    main()
