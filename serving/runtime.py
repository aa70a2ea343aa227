"""The harness runtime: one loop in which an agent is served, evaluated and trained.

A run is: offer tools, ask the model for one action, check it, execute it, append what came back, until an answer or a
stop. Guarantees:

1. The harness alone decides what is offered: ``permitted(topic)``, and after a successful write the answer tool alone
   where ``answer_after_write`` says so. An action outside of that is refused here even where the engine did not hold
   itself to the schema, and the tool is not called.
2. Arguments are checked against the *declared* schema before the tool sees them (``schema_violation``).
3. Errors are counted; the run stops at ``max_errors``, at ``max_steps``, and at a text that is not an action.
4. A run never raises: whatever goes wrong in engine, tool or template is a rollout that says so.
5. Sampled ids are kept and checked (``serving.template``). An engine without tokens (a script, a demonstration) gets
   the ids of the one text form of its action, so replayed demonstrations and served runs have the same shape.

A tool session is called on the event loop: worlds live in memory.
"""

from __future__ import annotations

from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Tracer

from governance.errors import TidemillError
from governance.ports.clock import Clock
from governance.ports.engine import ChatEngine, Completion, CompletionRequest
from governance.ports.runner import AgentRunner
from governance.ports.tools import ToolRefusal, ToolSession, Unrecorded
from governance.records.harness import Effect, Harness, ToolSpec
from governance.records.message import Message, Role, text_message
from governance.records.release import ReleaseBundle
from governance.records.rollout import AgentRequest, Rollout, RolloutCall, RolloutStep, StopReason
from serving.action import Action, parse, schema, violation
from serving.action import render as render_action
from serving.prompt import call_message, render, result_message
from serving.spans import RunSpans
from serving.template import ChatTokens, Ids

MAX_TEMPLATES = 8
"""Chat templates kept ready; a scope uses one."""


class HarnessRuntime(AgentRunner):
    """Runs agents with one tokenizer."""

    def __init__(self, tokenizer: Any, tracer: Tracer | None, clock: Clock) -> None:
        """Without a tracer nothing is recorded; ``clock`` times the spans."""
        self._tokenizer = tokenizer
        self._tracer = tracer or trace.NoOpTracer()
        self._clock = clock
        self._tokens: dict[str, ChatTokens] = {}

    async def run(
        self, bundle: ReleaseBundle, request: AgentRequest, tools: ToolSession, engine: ChatEngine
    ) -> Rollout:
        """One run to its end."""
        spans = RunSpans(self._tracer, self._clock)
        rollout = await self.play(bundle, request, tools, engine, spans)
        spans.close(rollout)
        return rollout

    async def play(
        self, bundle: ReleaseBundle, request: AgentRequest, tools: ToolSession, engine: ChatEngine, spans: RunSpans
    ) -> Rollout:
        """One run whose root span stays open, for a conversation that goes on with people."""
        run = _Run(bundle, request, tools, engine, spans)
        spans.open(bundle, request, run.shown)
        try:
            await run.to_end(self.tokens(bundle.harness))
        except Unrecorded as error:
            run.stop_with(StopReason.UNRECORDED, str(error))
        except TidemillError as error:
            run.stop_with(StopReason.ENGINE_ERROR, f"{type(error).__name__}: {error}")
        except Exception as error:  # noqa: BLE001 - the port promises a rollout whatever fails inside a run
            run.stop_with(StopReason.ENGINE_ERROR, f"unexpected {type(error).__name__}: {error}")
        return run.rollout()

    def tokens(self, harness: Harness) -> ChatTokens:
        """The tokenizer with the harness's template."""
        if harness.chat_template not in self._tokens:
            if len(self._tokens) >= MAX_TEMPLATES:
                self._tokens.pop(next(iter(self._tokens)))
            self._tokens[harness.chat_template] = ChatTokens(self._tokenizer, harness.chat_template)
        return self._tokens[harness.chat_template]


def shown_tools(harness: Harness, topic: str | None) -> tuple[ToolSpec, ...]:
    """The tools that the prompt names: the permitted ones, and the answer tool, which may be all that is left later."""
    names = harness.permitted(topic)
    named = names if harness.answer_tool in names else (*names, harness.answer_tool)
    return tuple(tool for name in named if (tool := harness.tool(name)) is not None)


def served_model(bundle: ReleaseBundle) -> str:
    """The name under which an engine serves the release's weights."""
    return bundle.release.adapter.served_name if bundle.release.adapter else bundle.release.base.name


class _Run:
    """The state of one run."""

    def __init__(
        self, bundle: ReleaseBundle, request: AgentRequest, tools: ToolSession, engine: ChatEngine, spans: RunSpans
    ) -> None:
        self._bundle, self._request, self._session = bundle, request, tools
        self._engine, self._spans = engine, spans
        self._harness = bundle.harness
        self.shown = shown_tools(self._harness, request.topic)
        self._offered = tuple(t for n in self._harness.permitted(request.topic) if (t := self._harness.tool(n)))
        self._messages: list[Message] = []
        self._steps: list[RolloutStep] = []
        self._calls: list[RolloutCall] = []
        self._model = served_model(bundle)
        self._answer: str | None = None
        self._stop = StopReason.MAX_STEPS
        self._error: str | None = None

    async def to_end(self, tokens: ChatTokens) -> None:
        """Step until something stops the run."""
        context = self._bundle.context
        topic = self._request.topic
        facts = [fact for fact in context.facts_at(self._request.at) if self._harness.states(topic, fact.key)]
        self._messages = [
            render(self._harness, facts, self.shown, context.playbook),
            text_message(Role.USER, self._request.message),
        ]
        prompt = tokens.prompt(self._messages)
        for number in range(self._harness.max_steps):
            action = await self._ask(tokens, prompt)
            if action is None or self._act(f"call_{number + 1}", action):
                break
            sampled = self._steps[-1].output_token_ids
            prompt = tokens.follow(prompt, sampled, self._messages[:-1], self._messages[-1:])
        tokens.check(self._steps)

    async def _ask(self, tokens: ChatTokens, prompt: Ids) -> Action | None:
        """One model call; None when what came is not an action."""
        completion = await self._complete(prompt)
        action = parse(completion.text)
        text, ids = completion.text, completion.token_ids
        if not ids:
            text = render_action(action) if isinstance(action, Action) else text
            ids = tokens.reply(text)
        self._steps.append(
            RolloutStep(
                messages=tuple(self._messages),
                prompt_token_ids=prompt,
                output_token_ids=ids,
                text=text,
                finish_reason=completion.finish_reason,
                choices=tokens.choices(ids, [tool.name for tool in self._offered]),
            )
        )
        if isinstance(action, Action):
            return action
        self.stop_with(StopReason.UNPARSEABLE, f"{action.kind}: {action.detail}")
        return None

    async def _complete(self, prompt: Ids) -> Completion:
        span = self._spans.chat(self._model, self._messages)
        request = CompletionRequest(
            model=self._model,
            messages=tuple(self._messages),
            prompt_token_ids=prompt,
            tools=tuple(tool.name for tool in self._offered),
            action_schema=schema(self._offered),
            sampling=self._harness.sampling,
            trace_parent=self._spans.trace_parent(span),
        )
        try:
            completion = await self._engine.complete(request)
        except Exception as error:
            self._spans.failed(span, type(error).__name__, str(error))
            raise
        self._model = completion.model
        self._spans.chat_done(span, completion, self._said(completion.text))
        return completion

    def _said(self, text: str) -> Message:
        """The assistant's message: a tool call where the text is an action, else the text."""
        action = parse(text)
        if isinstance(action, Action):
            return call_message(f"call_{len(self._steps) + 1}", action)
        return text_message(Role.ASSISTANT, text)

    def _act(self, call_id: str, action: Action) -> bool:
        """Execute an action; True when the run is over."""
        tool = next((tool for tool in self._offered if tool.name == action.tool), None)
        broken = violation(tool, action.arguments) if tool is not None else None
        if tool is not None and broken is None and tool.name == self._harness.answer_tool:
            self._answer, self._stop = answer_text(action.arguments), StopReason.ANSWERED
            return True
        call = self._call(call_id, action, tool, broken)
        self._calls.append(call)
        shown = call.result if call.error is None else {"error": call.error}
        self._messages += [call_message(call_id, action), result_message(call_id, shown)]
        if call.error is not None:
            return self._too_many_errors(call)
        if tool is not None:
            self._offered = self._offered_after(tool)
        return False

    def _offered_after(self, done: ToolSpec) -> tuple[ToolSpec, ...]:
        """What the harness offers once a tool succeeded."""
        if done.effect is Effect.WRITE and self._harness.answer_after_write:
            return self._only_answer()
        if self._harness.repeat_tools:
            return self._offered
        return tuple(tool for tool in self._offered if tool.name != done.name) or self._only_answer()

    def _only_answer(self) -> tuple[ToolSpec, ...]:
        answer = self._harness.tool(self._harness.answer_tool)
        return self._offered if answer is None else (answer,)

    def _call(self, call_id: str, action: Action, tool: ToolSpec | None, broken: str | None) -> RolloutCall:
        """Refuse or execute one call, inside its span."""
        span = self._spans.tool(action.tool, call_id, action.arguments)
        if tool is None:
            known = ", ".join(offered.name for offered in self._offered)
            call = _refused(action, "not_permitted", f"{action.tool} is not permitted here; permitted: {known}")
        elif broken is not None:
            call = _refused(action, "schema_violation", broken)
        else:
            call = execute(self._session, action.tool, action.arguments)
        self._spans.tool_done(span, call)
        return call

    def _too_many_errors(self, call: RolloutCall) -> bool:
        if sum(1 for done in self._calls if done.error is not None) < self._harness.max_errors:
            return False
        self.stop_with(StopReason.TOOL_ERRORS, f"{call.name}: {call.error_type}: {call.error}")
        return True

    def stop_with(self, stop: StopReason, error: str) -> None:
        """Note why the run is over; an answer that fails a later check does not stand."""
        self._stop, self._error, self._answer = stop, error, None

    def rollout(self) -> Rollout:
        """What happened."""
        return Rollout(
            release_digest=self._bundle.release.digest(),
            model=self._model,
            steps=tuple(self._steps),
            calls=tuple(self._calls),
            answer=self._answer,
            stop=self._stop,
            error=self._error,
            trace_id=self._spans.trace_id,
        )


def execute(session: ToolSession, name: str, arguments: dict[str, Any]) -> RolloutCall:
    """One call on a session; a refusal and a crash are both results.

    Raises:
        Unrecorded: when the world does not know: no result would be true.

    """
    try:
        return RolloutCall(name=name, arguments=arguments, result=session.call(name, arguments))
    except Unrecorded:
        raise
    except ToolRefusal as refusal:
        return RolloutCall(name=name, arguments=arguments, error=str(refusal), error_type=refusal.error_type)
    except Exception as error:  # noqa: BLE001 - a tool is foreign code: its crash is the call's result
        text = f"{type(error).__name__}: {error}"
        return RolloutCall(name=name, arguments=arguments, error=text, error_type="internal")


def _refused(action: Action, error_type: str, text: str) -> RolloutCall:
    return RolloutCall(name=action.tool, arguments=action.arguments, error=text, error_type=error_type)


def answer_text(arguments: dict[str, Any]) -> str:
    """What an answer tool says: its ``text``, or its string arguments."""
    if isinstance(arguments.get("text"), str):
        return str(arguments["text"])
    return "\n".join(str(value) for value in arguments.values() if isinstance(value, str))
