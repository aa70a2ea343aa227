"""The experiment tracker and model registry on MLflow.

Runs and versions are named by what they record: a run by its ``key`` tag, a version by its release's digest, so that a
retry finds what was recorded and records nothing twice. A run whose recording broke off is taken up again, not
repeated. Aliases are a projection of the deployment table and never read back as truth. Model names cannot hold ``@``,
``/`` or ``:``, so a scope's name is written out and the scope itself kept as a tag.

No person's data is recorded here on purpose; should a subject's hash stand in a run's parameters, tags or files, the
search finds it (archives opened), and the run goes with its files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from governance.ports.erasable import Content, Erasable
from governance.ports.tracker import Tracker
from governance.records.base import canonical_json, digest_json
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import Node, NodeKind
from governance.rescan.needles import Needles
from governance.rescan.search import holds
from serving.errors import TrackerError

if TYPE_CHECKING:
    from mlflow import MlflowClient

KEY = "tidemill.key"
KEY_DIGEST = "tidemill.key_digest"
"""What a run is found by: MLflow's filters cannot hold every character of a key."""
DIGEST = "tidemill.release"
SCOPE = "tidemill.scope"
ERASED = "tidemill.erased"
PAGE = 500
SQLITE = "sqlite:///"


def _vacuum(path: str) -> None:
    """Rewrite a SQLite file, so that deleted rows leave no bytes in free pages."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def _told(what: str) -> Iterator[None]:
    """MLflow's errors as this package's, saying what was being done."""
    from mlflow.exceptions import MlflowException

    try:
        yield
    except MlflowException as error:
        raise TrackerError(f"{what}: {error.message}") from error


def model_name(scope: str) -> str:
    """The registered model of a scope."""
    return scope.replace("@", ".at.").replace("+", ".and.")


class MlflowTracker(Tracker, Erasable):
    """One MLflow, by server URL or by database URL."""

    def __init__(self, tracking_uri: str, artifacts: Path | None) -> None:
        """``artifacts`` is the folder for files with a database URL; a server keeps its own (None)."""
        self._uri, self._artifacts = tracking_uri, artifacts
        self._made: MlflowClient | None = None

    @property
    def _client(self) -> MlflowClient:
        if self._made is None:
            from mlflow import MlflowClient

            self._made = MlflowClient(tracking_uri=self._uri, registry_uri=self._uri)
        return self._made

    def record_run(
        self,
        *,
        experiment: str,
        key: str,
        params: Mapping[str, str],
        metrics: Mapping[str, float],
        artifacts: Mapping[str, Path],
    ) -> str:
        """Record one run and return its id; the same ``key`` records once.

        Raises:
            TrackerError: when MLflow refuses.

        """
        with _told(f"run {key}"):
            experiment_id = self._experiment(experiment)
            run = self._run_of(experiment_id, key)
            if run is not None and run.info.status == "FINISHED":
                return str(run.info.run_id)
            run_id = str(
                (
                    run
                    or self._client.create_run(
                        experiment_id, tags={KEY: key, KEY_DIGEST: digest_json(key)}, run_name=key
                    )
                ).info.run_id
            )
            for name, value in params.items():
                self._client.log_param(run_id, name, value)
            for name, number in metrics.items():
                self._client.log_metric(run_id, name, float(number))
            for folder, path in artifacts.items():
                self._log(run_id, folder, path)
            self._client.set_terminated(run_id)
            return run_id

    def register_release(self, *, scope: str, release_digest: str, run_id: str, tags: Mapping[str, str]) -> str:
        """Register a release as a version of the scope's model; idempotent by digest."""
        from mlflow.exceptions import MlflowException

        name = model_name(scope)
        with _told(f"release {release_digest[:12]} of {scope}"):
            try:
                self._client.create_registered_model(name, tags={SCOPE: scope})
            except MlflowException as error:
                if error.error_code != "RESOURCE_ALREADY_EXISTS":
                    raise
                if self._client.get_registered_model(name).tags.get(SCOPE) != scope:
                    raise TrackerError(f"the registered model {name} belongs to another scope") from error
            known = self._version(name, release_digest)
            if known is not None:
                return known
            source = f"{self._client.get_run(run_id).info.artifact_uri}/release"
            version = self._client.create_model_version(
                name, source=source, run_id=run_id, tags={**tags, DIGEST: release_digest}
            )
            return str(version.version)

    def project_alias(self, *, scope: str, alias: str, release_digest: str | None) -> None:
        """Make the alias say what the deployment table says.

        Raises:
            TrackerError: when that release is not registered, or MLflow refuses.

        """
        from mlflow.exceptions import MlflowException

        name = model_name(scope)
        with _told(f"alias {alias} of {scope}"):
            if release_digest is None:
                try:
                    self._client.delete_registered_model_alias(name, alias)
                except MlflowException as error:
                    if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                        raise
                return
            version = self._version(name, release_digest)
            if version is None:
                raise TrackerError(f"release {release_digest[:12]} is not registered for {scope}")
            self._client.set_registered_model_alias(name, alias, version)

    def alias(self, scope: str, alias: str) -> str | None:
        """The release digest that the alias names, or None."""
        from mlflow.exceptions import MlflowException

        try:
            version = self._client.get_model_version_by_alias(model_name(scope), alias)
        except MlflowException:
            return None
        return str(version.tags.get(DIGEST))

    def delete_run_artifacts(self, run_id: str) -> None:
        """Remove a run's files and mark it erased."""
        from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

        with _told(f"artifacts of run {run_id}"):
            repository = get_artifact_repository(self._client.get_run(run_id).info.artifact_uri, tracking_uri=self._uri)
            if repository.list_artifacts():
                repository.delete_artifacts()
            self._client.set_tag(run_id, ERASED, "true")

    @property
    def name(self) -> str:
        """What this place is called in reports."""
        return "mlflow"

    @property
    def claims(self) -> frozenset[str]:
        """The folder of MLflow's database and files."""
        return frozenset({"mlflow"})

    def count(self, tenant_id: str, subject: str) -> int:  # noqa: ARG002 - a subject's hash is its tenant's already
        """How many runs hold the subject's hash."""
        return len(self._holding(Needles(subject=subject)))

    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:  # noqa: ARG002 - see count
        """Delete those runs with their files; idempotent."""
        return self.purge(Needles(subject=subject))

    def contents(self) -> Iterator[Content]:
        """MLflow's database and files, where they lie here; of a server what its interface gives."""
        if self._artifacts is not None:
            if self._uri.startswith(SQLITE):
                yield Content("database", Path(self._uri.removeprefix(SQLITE)))
            files = (path for path in sorted(self._artifacts.rglob("*")) if path.is_file())
            yield from (Content(f"artifacts/{path.relative_to(self._artifacts)}", path) for path in files)
            return
        for run in self._runs():
            where = f"run {run.info.run_id}"
            yield Content(where, canonical_json([{**run.data.params}, {**run.data.tags}]))
            with self._files(run) as folder:
                yield from (Content(where, path) for path in sorted(folder.rglob("*")) if path.is_file())

    def purge(self, needles: Needles) -> tuple[ErasedArtifact, ...]:
        """Delete the runs that hold any of the words, with their files; idempotent."""
        erased = []
        for run_id in self._holding(needles):
            self.delete_run_artifacts(run_id)
            gone = self._purge(run_id)
            node = Node(kind=NodeKind.DATASET, id=f"mlflow-run:{run_id}")
            state = ArtifactState.DELETED if gone else ArtifactState.HELD
            detail = "run and its files" if gone else "files deleted; `mlflow gc` on the server removes the run's row"
            erased.append(ErasedArtifact(node=node, state=state, detail=detail))
        if erased:
            self.scrub()
        return tuple(erased)

    def scrub(self) -> None:
        """Leave no bytes of deleted rows in MLflow's SQLite file; a server's database is its own."""
        if self._uri.startswith(SQLITE) and Path(self._uri.removeprefix(SQLITE)).exists():
            _vacuum(self._uri.removeprefix(SQLITE))

    def _purge(self, run_id: str) -> bool:
        """Delete a run's rows; False on a server, whose interface only marks a run as deleted."""
        from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

        self._client.delete_run(run_id)
        store = self._client._tracking_client.store
        if not isinstance(store, SqlAlchemyStore):
            return False
        store._hard_delete_run(run_id)
        return True

    def _holding(self, needles: Needles) -> list[str]:
        return [run.info.run_id for run in self._runs() if self._holds(run, needles)]

    def _runs(self) -> Iterator[Any]:
        experiments = [one.experiment_id for one in self._client.search_experiments(max_results=PAGE)]
        token = None
        while experiments:
            page = self._client.search_runs(experiments, max_results=PAGE, page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    def _holds(self, run: Any, needles: Needles) -> bool:
        words = {**run.data.params, **run.data.tags}
        if any(needles.in_(f"{name}={value}".encode()) for name, value in words.items()):
            return True
        with self._files(run) as folder:
            return any(
                needles.in_(str(path.relative_to(folder)).encode()) or (path.is_file() and holds(path, needles))
                for path in folder.rglob("*")
            )

    @contextmanager
    def _files(self, run: Any) -> Iterator[Path]:
        """A run's files, in a folder that is gone afterwards."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            if self._client.list_artifacts(run.info.run_id):
                self._client.download_artifacts(run.info.run_id, "", folder)
            yield Path(folder)

    def _experiment(self, name: str) -> str:
        from mlflow.exceptions import MlflowException

        location = None if self._artifacts is None else (self._artifacts / name).resolve().as_uri()
        known = self._client.get_experiment_by_name(name)
        if known is not None:
            return str(known.experiment_id)
        try:
            return str(self._client.create_experiment(name, artifact_location=location))
        except MlflowException as error:
            known = self._client.get_experiment_by_name(name)
            if error.error_code != "RESOURCE_ALREADY_EXISTS" or known is None:
                raise
            return str(known.experiment_id)

    def _run_of(self, experiment_id: str, key: str) -> Any:
        """The first run of that key."""
        found = self._client.search_runs(
            [experiment_id],
            filter_string=f"tags.`{KEY_DIGEST}` = '{digest_json(key)}'",
            order_by=["attributes.start_time ASC"],
            max_results=1,
        )
        return next(iter(found), None)

    def _log(self, run_id: str, folder: str, path: Path) -> None:
        if path.is_dir():
            self._client.log_artifacts(run_id, str(path), folder)
        else:
            self._client.log_artifact(run_id, str(path), folder)

    def _version(self, name: str, release_digest: str) -> str | None:
        token = None
        while True:
            page = self._client.search_model_versions(f"name = '{name}'", max_results=PAGE, page_token=token)
            for version in page:
                if version.tags.get(DIGEST) == release_digest:
                    return str(version.version)
            token = page.token
            if not token:
                return None
