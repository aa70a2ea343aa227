"""The engines that the contract tests run on: the double, and one real vLLM per session."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from governance.records.release import AdapterRef, BaseModelRef, ReleaseBundle
from governance.store import Store
from serving.runtime import HarnessRuntime
from serving.template import ChatTokens, load_tokenizer
from serving.vllm_admin import VllmAdmin
from tests.serving.byte_tokenizer import CHATML, ByteTokenizer
from tests.serving.shop_records import CONTEXT, harness, write_adapter
from tests.serving.vllm_double import VllmDouble, app_of, serving
from tests.support.clock import ManualClock

logger = logging.getLogger("tests.serving")
measured = logger.info
"""Numbers worth seeing: ``--log-cli-level=INFO`` shows them."""
LETTERS = ("My lamp is broken.", "Where is order SO-4321?")


@dataclass
class Upstream:
    """An engine with a tokenizer and two adapters that are not loaded."""

    url: str
    base: BaseModelRef
    tokenizer: Any
    chat_template: str
    adapters: dict[str, tuple[AdapterRef, Path, dict[str, Any]]]
    double: VllmDouble | None = None

    @property
    def tokens(self) -> ChatTokens:
        return ChatTokens(self.tokenizer, self.chat_template)

    @property
    def runtime(self) -> HarnessRuntime:
        return HarnessRuntime(self.tokenizer, None, ManualClock())

    def bundle(self, name: str | None, **changes: Any) -> ReleaseBundle:
        adapter = None if name is None else self.adapters[name][0]
        return ReleaseBundle.of(self.base, adapter, harness(chat_template=self.chat_template, **changes), CONTEXT)


@contextmanager
def double_upstream(folder: Path) -> Iterator[Upstream]:
    """A double with two made-up adapters, scored as the double scores."""
    double = VllmDouble()
    prompts = [ByteTokenizer()(text)["input_ids"] for text in LETTERS]
    adapters = {}
    for name in ("alpha", "beta"):
        ref = write_adapter(folder / name, name)
        double.load(name, str(folder / name))
        rows = [
            {"token_ids": ids, "adapter": double.score(name, ids), "base": double.score("base", ids)} for ids in prompts
        ]
        double.unload(name)
        sheet = {"version": 1, "prompts": rows}
        adapters[name] = (ref, folder / name, sheet)
    with serving(app_of(double)) as url:
        double.url = url
        base = BaseModelRef(name="base", content_digest="b" * 64)
        yield Upstream(url, base, ByteTokenizer(), CHATML, adapters, double)


@pytest.fixture
def double(tmp_path: Path) -> Iterator[Upstream]:
    with double_upstream(tmp_path) as upstream:
        yield upstream


@pytest.fixture(scope="session")
def real_upstream(base_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    """One vLLM for the session."""
    from serving.base_model import prepare
    from serving.vllm_server import VllmServer, VllmSettings, free_port, native_dtype
    from tests.serving.real_adapters import make

    folder = tmp_path_factory.mktemp("vllm")
    adapters = make(base_model_dir, folder, {"alpha": 1, "beta": 2})
    settings = VllmSettings(
        model_dir=base_model_dir,
        dtype=native_dtype(),
        ready_seconds=600,
        port=int(os.environ.get("TIDEMILL_TEST_VLLM_PORT", "0")) or free_port(),
        environment={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
    )
    with VllmServer(settings, folder / "vllm.log") as server:
        measured(f"vLLM ready after {server.ready():.1f} s")
        tokenizer = load_tokenizer(str(base_model_dir))
        base = BaseModelRef(name="base", content_digest=prepare(None, base_model_dir).content_digest)
        yield Upstream(settings.base_url, base, tokenizer, tokenizer.chat_template, adapters)


@pytest.fixture(
    params=["double", pytest.param("real", marks=[pytest.mark.vllm, pytest.mark.model])],
)
def upstream(request: pytest.FixtureRequest) -> Iterator[Upstream]:
    """The double, and the real engine, each without adapters before and after."""
    found: Upstream = request.getfixturevalue("double" if request.param == "double" else "real_upstream")
    with VllmAdmin(found.url) as admin:
        for name in admin.adapters():
            admin.unload(name)
        yield found
        for name in admin.adapters():
            admin.unload(name)


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    """A real store on a fresh database."""
    opened = Store.open(f"sqlite:///{tmp_path / 'store.db'}", clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def admin(upstream: Upstream) -> Iterator[VllmAdmin]:
    with VllmAdmin(upstream.url) as found:
        yield found
