"""Replay: a recorded week through a fresh intake, and the digests that must come out equal.

The recording's bodies are posted to a real receiver of a new data home that holds the same keys, contracts and
consents. From there the same drain, door and steps run. Equal are: the masked worlds, the dataset, the tasks, the
candidate's harness and context, and every row's verdict.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from governance.ports.product import DemoProduct
from governance.records.rights import Purpose, Suppression
from ingestion.recording import Recorded
from ingestion.recording import replay as post_all
from pipelines.errors import StepError
from pipelines.operations import bootstrap, main_scope, record_consents, turn_of
from pipelines.product import agent_path, load_demo_product
from pipelines.services import control_service, start_all
from pipelines.settings import Settings, load_settings
from pipelines.steps import gating, improving, intake
from pipelines.supervisor import verification
from pipelines.turn import Turn, Window
from pipelines.wiring import Mill

COMPARED = ("worlds", "tasks", "dataset", "harness", "context", "verdicts")
Tell = Callable[[str], None]


def replay(source: Settings, home: Path, ports: tuple[int, int], tell: Tell) -> dict[str, Any]:
    """Replay the recording of ``source`` into the empty folder ``home`` and compare.

    Raises:
        StepError: when there is no recording, or ``home`` is not empty.
    """
    if home.exists() and any(home.iterdir()):
        raise StepError(f"{home}: is not empty; a replay starts from nothing")
    home.mkdir(parents=True, exist_ok=True)
    target = load_settings(
        data_home=home,
        keys_dir=source.keys,
        cache_dir=source.model_cache,
        record_intake=False,
        intake_port=ports[0],
        gateway_port=ports[1],
        intake_grpc_port=0,
    )
    shutil.copyfile(agent_path(source), agent_path(target))
    with Mill(source) as recorded, Mill(target) as fresh:
        if not len(recorded.recording):
            raise StepError(f"{source.home}: holds no recording; it is kept only where TIDEMILL_RECORD_INTAKE is set")
        first = _digests(recorded, _turn(recorded))
        product = load_demo_product(target)
        _prepare(recorded, fresh, product, tell)
        sent = _post(recorded, fresh, tell)
        with fresh.narrate(tell):
            second = _digests(fresh, _turn(fresh))
    same = {name: first[name] == second[name] for name in COMPARED}
    return {"bodies": sent, "equal": same, "first": _short(first), "second": _short(second), "ok": all(same.values())}


def _prepare(recorded: Mill, fresh: Mill, product: DemoProduct, tell: Tell) -> None:
    """The same contracts and consents, and the same people kept out."""
    bootstrap(fresh, tell)
    record_consents(fresh, product.consents())
    for report in recorded.store.erasures.list():
        fresh.store.rights.suppress(
            Suppression(
                tenant_id=report.tenant_id, subject=report.subject, since=report.at, request_id=report.request_id
            )
        )


def _post(recorded: Mill, fresh: Mill, tell: Tell) -> int:
    service = control_service(fresh.settings)
    start_all(fresh.supervisor, [service], tell)
    keys = {tenant: fresh.tenant_keys.of(tenant) for tenant in fresh.product.tenants}
    verify = verification(fresh.settings.tls_cert)

    def post(item: Recorded) -> None:
        headers = {"content-type": item.content_type, "x-tidemill-key": keys[item.tenant_id]}
        url = f"{service.address}{item.telemetry.path}"
        httpx.post(url, content=item.body, headers=headers, timeout=30, verify=verify).raise_for_status()

    try:
        return post_all(recorded.recording, post)
    finally:
        fresh.supervisor.stop(service.name)


def _turn(mill: Mill) -> Turn:
    start, end = load_demo_product(mill.settings).span
    return turn_of(mill, main_scope(mill), Window(start, end))


def _digests(mill: Mill, turn: Turn) -> dict[str, Any]:
    """Run the steps up to the dataset, or find them done, and name what they gave."""
    reports = {
        step.__name__: step(mill, turn)
        for step in (
            intake.base_model,
            intake.trajectories,
            intake.worlds,
            improving.patterns,
            improving.proposals,
            gating.tasks,
            improving.dataset,
        )
    }
    harness, context = improving.candidate_parts(mill, turn)
    root = reports["dataset"]["root"]
    rows = mill.store.datasets.rows(root, Purpose.TRAIN_WEIGHTS) if root else ()
    return {
        "worlds": reports["worlds"]["worlds"],
        "tasks": reports["tasks"]["root"],
        "dataset": root,
        "harness": harness.digest(),
        "context": context.digest(),
        "verdicts": sorted((row.trajectory_id, row.verdict.allowed, *row.verdict.reasons) for row in rows),
    }


def _short(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "worlds": len(found["worlds"]), "verdicts": len(found["verdicts"])}
