"""Settings: the one place where the environment is read.

1. Every setting has a default that works on a fresh machine and a name in the environment, ``TIDEMILL_`` + its name.
2. What is made from traces lies under ``data_home``, unless a URL says that a database or MLflow is elsewhere. Three
   things lie beside it: the keys, so that a copy of the data home alone cannot be read; the journal of erasures, so
   that a data home restored from a backup learns of them; and the cache of converted base models, which hold nobody's
   data and which data homes side by side share.
3. A variable with the prefix that is no setting changes nothing; ``unknown_variables`` finds it, since it is a typo.
4. Servers listen on loopback unless ``host`` says otherwise.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from governance.records.approval import ApprovedAct

CHECKOUT = Path(__file__).resolve().parents[1]
"""A relative data home lies in the checkout, wherever the command is called from."""
PREFIX = "TIDEMILL_"
TOKEN = "TIDEMILL_TOKEN"  # noqa: S105 - a name
"""The variable of a principal's token: no setting, so nothing prints it and no child process gets it."""
NOT_SETTINGS = frozenset(
    {
        TOKEN,
        "TIDEMILL_DAGSTER_DIR",  # what dagster.yaml reads; set for child processes
        "TIDEMILL_PLATFORM",  # the launcher: which lock
        "TIDEMILL_PYTHON",  # the launcher: which Python
        "TIDEMILL_REQUIRE_SERVICES",  # the tests: fail where a service is missing
        "TIDEMILL_TEST_VLLM_PORT",  # the tests: the port of their vLLM
    }
)
"""Variables with the prefix that something else of this project reads."""


class Settings(BaseSettings):
    """What can be configured. ``tidemill doctor`` prints each value and what a missing one means."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid")

    data_home: Path = Field(default=Path("data/home"), description="folder of everything that is written")
    keys_dir: Path | None = Field(default=None, description="folder of the keys; beside the data home when not set")
    cache_dir: Path | None = Field(default=None, description="converted base models; beside the data home when not set")
    database_url: str | None = Field(default=None, description="SQLAlchemy URL; SQLite in the data home when not set")
    agent: str | None = Field(default=None, description="module:factory of the agent product; none: only intake")
    base_model: Path | None = Field(default=None, description="local model folder; the packaged model when not set")
    host: str = Field(default="127.0.0.1", description="address that servers listen on")
    intake_port: int = Field(default=4318, ge=1, le=65535, description="OTLP/HTTP intake")
    intake_grpc_port: int = Field(default=4317, ge=0, le=65535, description="OTLP/gRPC intake; 0: no such door")
    tls_cert: Path | None = Field(default=None, description="PEM certificate of the intake; plain when not set")
    tls_key: Path | None = Field(default=None, description="PEM key of that certificate")
    gateway_port: int = Field(default=4000, ge=1, le=65535, description="gateway to the champion")
    vllm_port: int = Field(default=8000, ge=1, le=65535, description="vLLM")
    dagster_port: int = Field(default=3000, ge=1, le=65535, description="Dagster UI")
    mlflow_port: int = Field(default=5000, ge=1, le=65535, description="MLflow UI")
    mlflow_tracking_uri: str | None = Field(default=None, description="MLflow; SQLite in the data home when not set")

    max_loras: int = Field(default=4, description="adapters that vLLM holds at once: champions, rollback targets, arms")
    process_rules: Path | None = Field(default=None, description="TOML of rules that the agents must keep")
    masking_policy: Path | None = Field(default=None, description="TOML of what masking does for each tenant")
    review_share: float = Field(default=0.001, ge=0, le=1, description="share of the texts drawn for a reviewer")
    audit_anchor: str | None = Field(
        default=None, description="folder or fsspec URL of the audit's checkpoints; beside the data home when not set"
    )
    approval_required: str = Field(
        default="", description="acts that another person approves first, with commas between: erasure,promotion"
    )
    controllers: Path | None = Field(default=None, description="TOML of who answers for each tenant's data")
    rights_policy: Path | None = Field(default=None, description="TOML of the rules that deny uses; the built-in ones")
    retention_policy: Path | None = Field(default=None, description="TOML of how long each purpose keeps what it uses")
    prices: Path | None = Field(default=None, description="TOML of token prices, for runs that state no cost")
    drain_workers: int = Field(default=1, ge=1, le=64, description="processes of a drain; each masks for itself")
    pii_model: Path | None = Field(default=None, description="folder of a heavier model that finds personal values")
    masking_workers: int = Field(default=1, ge=0, le=64, description="processes of the detectors; 0: no time limit")
    masking_time_limit: float = Field(default=60.0, gt=0, description="seconds of a request to one, +1 per 1,000 chars")
    record_intake: bool = Field(default=False, description="keep accepted bodies, sealed, for a replay")

    erasure_term_days: int = Field(default=30, ge=1, le=90, description="days from a request to its certificate")
    erasure_four_eyes: bool = Field(default=False, description="an erasure needs somebody else's approval")
    erasure_serving: Literal["roll_back", "suspend", "keep"] = Field(
        default="roll_back", description="what becomes of a champion made in part from an erased person's data"
    )
    erasure_keep_days: int = Field(default=7, ge=0, description="with keep: days from the request that it may serve")
    erasure_backup_days: int = Field(default=30, ge=0, description="how long backups are kept, for certificates")
    journal_dir: Path | None = Field(default=None, description="journal of erasures; beside the data home when not set")

    vllm_dtype: Literal["bfloat16", "float32", "float16"] | None = Field(
        default=None, description="what the CPU computes natively when not set"
    )
    train_share: float = Field(default=0.6, gt=0, lt=1, description="part of the window that is learned from")
    eval_tasks: int = Field(default=88, ge=1, description="held-out tasks that each arm runs, at most")
    gate_tasks: int = Field(default=80, ge=1, description="held-out tasks below which the gate decides nothing")
    concurrency: int = Field(default=32, ge=1, description="runs at once in an evaluation")
    lora_rank: int = Field(default=16, ge=1, le=256, description="rank of the adapters")
    lora_depth: float = Field(default=0.5, gt=0, le=1, description="share of the layers, from the top, with an adapter")
    learning_rate: float = Field(default=2e-3, gt=0, description="of the adapters' training")
    choice_share: float = Field(default=0.5, ge=0, lt=1, description="weight of the choice of a tool in a row's loss")
    epochs: int = Field(default=2, ge=1, description="passes over the training rows")
    batch_size: int = Field(default=2, ge=1, description="training rows a step")
    rehearsal_ratio: float = Field(default=1.0, ge=0, description="confirmed successes per takeover in a dataset")

    @model_validator(mode="after")
    def _certificate_and_key(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key come together: set both or neither")
        return self

    @model_validator(mode="after")
    def _keeping_ends_inside_the_term(self) -> Self:
        if self.erasure_keep_days > self.erasure_term_days:
            raise ValueError("erasure_keep_days must not be more than erasure_term_days")
        return self

    @field_validator("approval_required")
    @classmethod
    def _acts_that_can_be_approved(cls, value: str) -> str:
        unknown = set(_parts(value)) - set(ApprovedAct)
        if unknown:
            raise ValueError(f"{', '.join(sorted(unknown))}: can be {', '.join(ApprovedAct)}")
        return value

    @property
    def to_approve(self) -> frozenset[ApprovedAct]:
        """The acts that do not happen before another person approves them."""
        erasure = {ApprovedAct.ERASURE} if self.erasure_four_eyes else set()
        return frozenset(map(ApprovedAct, _parts(self.approval_required))) | erasure

    @property
    def home(self) -> Path:
        """The data home, absolute."""
        return (CHECKOUT / self.data_home.expanduser()).resolve()

    @property
    def keys(self) -> Path:
        """Folder of the keys, never inside the data home."""
        chosen = self.keys_dir or self.home.with_name(self.home.name + "-keys")
        return chosen.expanduser().resolve()

    @property
    def journal(self) -> Path:
        """The journal of erasures, never inside the data home: a restored backup is checked against it."""
        chosen = self.journal_dir or self.home.with_name(self.home.name + "-journal")
        return (CHECKOUT / chosen.expanduser()).resolve() / "erasures.jsonl"

    @property
    def anchor(self) -> str:
        """Where checkpoints of the audit go, never inside the data home."""
        chosen = self.audit_anchor
        if chosen is not None and "://" in chosen:
            return chosen
        folder = Path(chosen) if chosen else self.home.with_name(self.home.name + "-anchor")
        return str((CHECKOUT / folder.expanduser()).resolve())

    @property
    def intake_url(self) -> str:
        """Where the intake's HTTP door is."""
        return f"{'http' if self.tls_cert is None else 'https'}://{self.host}:{self.intake_port}"

    @property
    def database(self) -> str:
        """The database's URL."""
        return self.database_url or sqlite_url(self.home / "tidemill.db")

    @property
    def tracking_uri(self) -> str:
        """MLflow's tracking URI."""
        return self.mlflow_tracking_uri or sqlite_url(self.home / "mlflow" / "mlflow.db")

    @property
    def model_cache(self) -> Path:
        """Where converted base models are kept; shared by data homes that lie side by side."""
        return (CHECKOUT / self.cache_dir.expanduser()).resolve() if self.cache_dir else self.home.parent / "cache"

    def environment(self) -> dict[str, str]:
        """These settings as environment variables, for child processes."""
        chosen = {
            f"{PREFIX}{name.upper()}": str(value) for name, value in self.model_dump().items() if value is not None
        }
        return {**chosen, "TIDEMILL_DATA_HOME": str(self.home), "TIDEMILL_KEYS_DIR": str(self.keys)}


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file; signs that mean something in a URL are escaped, so the file lies where it should."""
    from sqlalchemy.engine import URL

    return URL.create("sqlite", database=str(path)).render_as_string()


def load_settings(**overrides: object) -> Settings:
    """Settings from the environment, with ``overrides`` on top.

    Raises:
        pydantic.ValidationError: naming each setting whose value is not usable.
    """
    return Settings(**{name: value for name, value in overrides.items() if value is not None})  # type: ignore[arg-type]  # pydantic checks them


def unknown_variables() -> dict[str, str | None]:
    """Variables of this process's environment that look like settings and are none, each with the nearest setting."""
    settings = [name.upper() for name in Settings.model_fields]
    known = {*NOT_SETTINGS, *(PREFIX + name for name in settings)}
    unknown = sorted(name for name in os.environ if name.upper().startswith(PREFIX) and name.upper() not in known)
    # Without the prefix, which all share: with it, any two short names are near.
    near = {name: get_close_matches(name.upper().removeprefix(PREFIX), settings, n=1) for name in unknown}
    return {name: PREFIX + found[0] if found else None for name, found in near.items()}


def token_in_environment() -> str | None:
    """The token of who acts, if the environment has one."""
    return os.environ.get(TOKEN) or None


def child_environment(settings: Settings) -> dict[str, str]:
    """The whole environment for a child process: this one's but for the token, the settings, and Dagster's home."""
    dagster_home = settings.home / "dagster"
    return {
        **{name: value for name, value in os.environ.items() if name != TOKEN},
        **settings.environment(),
        "DAGSTER_HOME": str(dagster_home),
        "TIDEMILL_DAGSTER_DIR": str(dagster_home),
        "HF_HUB_OFFLINE": "1",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
        "PYTHONUNBUFFERED": "1",
    }


def adopt_environment(settings: Settings) -> None:
    """Make this process see the settings as its children do; Dagster reads its home from the environment."""
    os.environ.update(child_environment(settings))
