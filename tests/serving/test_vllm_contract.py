"""What serving relies on in vLLM, asked of the double and of the real engine alike."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from governance.ports.engine import Completion, CompletionRequest
from governance.records.harness import Sampling
from governance.records.message import Role, text_message
from governance.records.release import AdapterRef
from governance.records.rollout import Rollout, StopReason
from governance.store import Store
from serving import probe
from serving.action import Action, parse, schema, violation
from serving.errors import EngineRejected, ProbeFailed
from serving.gateway import RELEASE_HEADER, create_app
from serving.promotion import Promoter
from serving.vllm_admin import VllmAdmin
from serving.vllm_engine import VllmEngine
from tests.serving.alias_book import AliasBook
from tests.serving.conftest import Upstream, measured
from tests.serving.shop_records import TOOLS, Session, request
from tests.serving.test_promotion import passing, promoter
from tests.support.clock import ManualClock

OPENING = (
    text_message(Role.SYSTEM, "You are the support agent of a shop. Write one action as JSON."),
    text_message(Role.USER, "Where is my order SO-1234?"),
)
SCOPE = "shop@acme"
SLOW = 600.0
"""Seconds: a shared two-core machine may give less than one token a second."""


def ask(upstream: Upstream, model: str, tools: int = 3, max_tokens: int = 60) -> Completion:
    sent = CompletionRequest(
        model=model,
        messages=OPENING,
        prompt_token_ids=upstream.tokens.prompt(OPENING),
        tools=tuple(tool.name for tool in TOOLS[:tools]),
        action_schema=schema(TOOLS[:tools]),
        sampling=Sampling(max_tokens=max_tokens),
        trace_parent="00-" + "1" * 32 + "-" + "2" * 16 + "-01",
    )

    async def once() -> Completion:
        async with VllmEngine(upstream.url, timeout=SLOW) as engine:
            return await engine.complete(sent)

    return asyncio.run(once())


def test_a_completion_is_an_action_with_the_ids_that_were_sampled(upstream: Upstream) -> None:
    found = ask(upstream, "base", tools=1)
    action = parse(found.text)
    assert isinstance(action, Action), found.text
    assert action.tool == "get_order"
    assert violation(TOOLS[0], action.arguments) is None
    assert found.token_ids[-1] == upstream.tokens.end_of_turn
    assert upstream.tokens.text(found.token_ids) == found.text
    assert (found.model, found.finish_reason) == ("base", "stop")
    assert found.output_tokens == len(found.token_ids)
    assert found.input_tokens == len(upstream.tokens.prompt(OPENING))


def test_one_of_several_tools_is_chosen(upstream: Upstream) -> None:
    action = parse(ask(upstream, "base").text)
    assert isinstance(action, Action)
    assert action.tool in {tool.name for tool in TOOLS}


def test_a_model_that_is_not_served_is_rejected(upstream: Upstream) -> None:
    with pytest.raises(EngineRejected, match="404"):
        ask(upstream, "adapter-nobody")


def test_adapters_come_and_go_by_name(upstream: Upstream, admin: VllmAdmin, tmp_path: Path) -> None:
    ref, folder, _ = upstream.adapters["alpha"]
    began = time.monotonic()
    admin.load(ref.served_name, folder)
    measured(f"adapter loaded in {time.monotonic() - began:.3f} s")
    admin.load(ref.served_name, folder)
    assert admin.adapters() == {ref.served_name: str(folder.resolve())}
    assert set(admin.names()) == {"base", ref.served_name}
    assert ask(upstream, ref.served_name, max_tokens=4).model == ref.served_name
    with pytest.raises(EngineRejected, match="is loaded from"):
        admin.load(ref.served_name, upstream.adapters["beta"][1])
    admin.unload(ref.served_name)
    admin.unload(ref.served_name)
    assert admin.adapters() == {}
    with pytest.raises(EngineRejected):
        ask(upstream, ref.served_name)
    with pytest.raises(EngineRejected):
        admin.load("adapter-nowhere", tmp_path / "nothing here")


def test_weights_never_change_under_a_name(upstream: Upstream, admin: VllmAdmin) -> None:
    """The engine itself refuses a second adapter under a name that is taken."""
    ref, folder, _ = upstream.adapters["alpha"]
    admin.load(ref.served_name, folder)
    body = {"lora_name": ref.served_name, "lora_path": str(upstream.adapters["beta"][1])}
    assert httpx.post(f"{upstream.url}/v1/load_lora_adapter", json=body, trust_env=False).status_code == 400


def test_every_token_is_scored(upstream: Upstream, admin: VllmAdmin) -> None:
    ids = upstream.tokens.prompt(OPENING)
    scores = admin.logprobs("base", ids)
    assert len(scores) == len(ids) - 1
    assert all(score <= 0 for score in scores)
    again = admin.logprobs("base", ids)
    assert max(abs(a - b) for a, b in zip(scores, again, strict=True)) < 0.05


def test_the_probe_knows_the_adapter_from_the_base_and_from_another(upstream: Upstream, admin: VllmAdmin) -> None:
    results = {}
    for name in ("alpha", "beta"):
        admin.load(upstream.adapters[name][0].served_name, upstream.adapters[name][1])
    sheet = probe.ProbeSheet.read(upstream.adapters["alpha"][2])
    for served in (upstream.adapters["alpha"][0].served_name, upstream.adapters["beta"][0].served_name, "base"):
        results[served] = probe.run(sheet, served, admin.logprobs)
        measured(results[served])
    assert [result.passed for result in results.values()] == [True, False, False]


def test_the_base_answers_as_itself_while_adapters_fill_every_slot(upstream: Upstream, admin: VllmAdmin) -> None:
    """In one batch with requests to two adapters, where two is all that the engine holds at once."""
    alone = ask(upstream, "base", max_tokens=12)
    names = []
    for ref, folder, _ in upstream.adapters.values():
        admin.load(ref.served_name, folder)
        names.append(ref.served_name)
    with ThreadPoolExecutor(6) as pool:
        models = [*names, "base", *names, "base"]
        found = list(pool.map(lambda model: ask(upstream, model, max_tokens=12), models))
    for model, completion in zip(models, found, strict=True):
        assert completion.model == model
        if model == "base":
            assert completion.token_ids == alone.token_ids


def test_a_run_of_the_harness(upstream: Upstream) -> None:
    async def once() -> Rollout:
        async with VllmEngine(upstream.url, timeout=SLOW) as engine:
            return await upstream.runtime.run(upstream.bundle(None, max_steps=2), request(), Session(), engine)

    rollout = asyncio.run(once())
    assert rollout.stop in {StopReason.ANSWERED, StopReason.MAX_STEPS, StopReason.UNPARSEABLE}, rollout.error
    upstream.tokens.check(rollout.steps)
    assert rollout.model == "base"


def test_a_switch_answers_with_the_new_weights_at_once(
    upstream: Upstream, admin: VllmAdmin, store: Store, clock: ManualClock
) -> None:
    """SRV-03: the same prompt before and after a switch; no cached prefix of the old weights may answer.

    Scoring a prompt reads no cached prefix, so each answer is compared with fresh scores under every loaded name: it
    must lie clearly nearest to the weights it claims.
    """
    promotions = promoter(store, admin, AliasBook())
    app = create_app(
        deployments=store.deployments,
        releases=store.releases,
        scopes=lambda: [SCOPE],
        upstream_url=upstream.url,
        clock=clock,
    )
    prompt = list(upstream.tokens.prompt(OPENING)) * 3
    body = {
        "model": SCOPE,
        "prompt": prompt,
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": 1,
        "return_token_ids": True,
    }

    async def through_gateway() -> tuple[str, str, int, float]:
        """Release, model, the first token, and its log-probability, which tells weights apart where words do not."""
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway", timeout=SLOW) as client:
            response = await client.post("/v1/completions", json=body)
        value = response.json()
        choice = value["choices"][0]
        said = choice["logprobs"]["token_logprobs"][0]
        return response.headers[RELEASE_HEADER], value["model"], choice["token_ids"][0], said

    async def whole() -> None:
        answers: dict[str, tuple[int, float]] = {}
        previous = put_initial(store, promotions, upstream)
        for name in ("alpha", "beta"):
            bundle = upstream.bundle(name)
            store.releases.put(bundle, previous, "test")
            store.adapters.put(*values_of(upstream, name))
            version = store.deployments.history(SCOPE)[-1].version
            done = promotions.promote(
                SCOPE, bundle, version, "better", "tester", gate=passing(SCOPE, previous, bundle.release.digest())
            )
            measured(f"{name} promoted in {done.seconds:.3f} s; {done.probe}")
            previous = bundle.release.digest()
            clock.advance(seconds=2)
            for _ in range(2):  # the second time the prefix is cached
                digest, model, token, said = await through_gateway()
                assert digest == previous
                assert model == upstream.adapters[name][0].served_name
                afresh = {one: admin.logprobs(one, [*prompt, token])[-1] for one in admin.names()}
                measured(f"{model}: token {token}, said {said:.6f}, scored afresh {afresh}")
                own = abs(said - afresh.pop(model))
                assert own < min(abs(said - score) for score in afresh.values()) / 4, "nearest to its own weights"
            answers[name] = (token, said)
        back = promotions.rollback(SCOPE, "worse", "tester")
        measured(f"rolled back in {back.seconds:.4f} s")
        clock.advance(seconds=2)
        _, model, token, said = await through_gateway()
        assert model == upstream.adapters["alpha"][0].served_name
        assert token == answers["alpha"][0]
        assert said == pytest.approx(answers["alpha"][1], abs=0.01)

    asyncio.run(whole())


def put_initial(store: Store, promotions: Promoter, upstream: Upstream) -> str:
    bundle = upstream.bundle(None)
    store.releases.put(bundle, None, "initial")
    promotions.promote(SCOPE, bundle, 0, "initial", "tester")
    return bundle.release.digest()


def values_of(upstream: Upstream, name: str) -> tuple[AdapterRef, str, dict[str, Any]]:
    ref, folder, sheet = upstream.adapters[name]
    return ref, str(folder), sheet


def test_an_adapter_that_is_not_what_was_trained_is_not_promoted(
    upstream: Upstream, admin: VllmAdmin, store: Store
) -> None:
    """SRV-04: the sheet of other weights stands for any difference that the engine does not report."""
    promotions = promoter(store, admin, AliasBook())
    first, bundle = put_initial(store, promotions, upstream), upstream.bundle("alpha")
    ref, folder, _ = upstream.adapters["alpha"]
    store.releases.put(bundle, first, "test")
    store.adapters.put(ref, str(folder), upstream.adapters["beta"][2])
    with pytest.raises(ProbeFailed):
        promotions.promote(SCOPE, bundle, 1, "better", "tester", gate=passing(SCOPE, first, bundle.release.digest()))
    assert [entry.version for entry in store.deployments.history(SCOPE)] == [1]
    assert admin.adapters() == {}
