"""Process rules, judged: where a run broke them. Pure: rules and a run in, breaches out.

1. Only the agent is judged: its calls and its words, never those of a person who took over.
2. A call whose tool refused it did nothing, so it makes no other call lawful and is not counted; it breaks a rule all
   the same when it was tried against it: the tool, not the agent, kept the rule.
3. Nothing is judged from what was withheld: a call without arguments breaks no rule about arguments.
4. What the agent says is the words of its turns, one by one, of this run and not of earlier ones in its history. A
   pattern reads the first ``SAID`` characters of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from re import compile as expression
from typing import Any, Final

from governance.records.process_rule import (
    ArgumentAmong,
    ArgumentBounds,
    Breach,
    CalledAtMost,
    NeverCalled,
    NeverSaid,
    OnlyAfter,
    ProcessRule,
)
from governance.records.trajectory import Actor, ToolInvocation, Trajectory

SAID: Final = 20_000


def breaches(rules: Sequence[ProcessRule], run: Trajectory) -> list[Breach]:
    """Every breach of the rules that hold for this run, in the order of the rules."""
    return [found for rule in rules if _holds_for(rule, run) for found in _breaches(rule, run)]


def _holds_for(rule: ProcessRule, run: Trajectory) -> bool:
    return (not rule.tenants or run.tenant_id in rule.tenants) and (not rule.agents or run.agent_name in rule.agents)


def _breaches(rule: ProcessRule, run: Trajectory) -> Iterator[Breach]:
    calls = [call for call in run.calls if call.actor is Actor.AGENT]
    match rule:
        case OnlyAfter():
            yield from _too_early(rule, calls)
        case NeverCalled():
            yield from (_breach(rule, (call,), f"{call.name} was called") for call in _of(rule.tool, calls))
        case CalledAtMost():
            yield from _too_often(rule, calls)
        case ArgumentBounds():
            yield from _out_of_bounds(rule, calls)
        case ArgumentAmong():
            yield from _not_among(rule, calls)
        case NeverSaid():
            yield from _said(rule, run)


def _of(tool: str, calls: Sequence[ToolInvocation]) -> list[ToolInvocation]:
    return [call for call in calls if fnmatchcase(call.name, tool)]


def _done(call: ToolInvocation) -> bool:
    return call.error is None and call.error_type is None


def _breach(rule: ProcessRule, calls: Sequence[ToolInvocation], what: str) -> Breach:
    return Breach(rule=rule.name, reason=rule.reason, span_ids=tuple(call.span_id for call in calls), what=what)


def _too_early(rule: OnlyAfter, calls: Sequence[ToolInvocation]) -> Iterator[Breach]:
    before: list[ToolInvocation] = []
    for call in calls:
        if fnmatchcase(call.name, rule.tool) and not any(_same(rule, one, call) for one in before):
            yield _breach(rule, (call,), f"{call.name} was called before {rule.after}")
        if fnmatchcase(call.name, rule.after) and _done(call):
            before.append(call)


def _same(rule: OnlyAfter, before: ToolInvocation, call: ToolInvocation) -> bool:
    """Whether the earlier call was about what this one is about; unknown where the arguments are withheld."""
    if before.arguments is None or call.arguments is None:
        return True
    return all(argument(before.arguments, name) == argument(call.arguments, name) for name in rule.same)


def _too_often(rule: CalledAtMost, calls: Sequence[ToolInvocation]) -> Iterator[Breach]:
    done = [call for call in _of(rule.tool, calls) if _done(call)]
    if len(done) > rule.times:
        yield _breach(rule, done, f"{rule.tool} succeeded {len(done)} times, {rule.times} are allowed")


def _out_of_bounds(rule: ArgumentBounds, calls: Sequence[ToolInvocation]) -> Iterator[Breach]:
    for call in _of(rule.tool, calls):
        value = argument(call.arguments, rule.argument)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if (rule.least is not None and value < rule.least) or (rule.most is not None and value > rule.most):
            bounds = " and ".join(
                f"{word} {bound:g}"
                for word, bound in (("at least", rule.least), ("at most", rule.most))
                if bound is not None
            )
            yield _breach(rule, (call,), f"{rule.argument} of {call.name} must be {bounds}")


def _not_among(rule: ArgumentAmong, calls: Sequence[ToolInvocation]) -> Iterator[Breach]:
    for call in _of(rule.tool, calls):
        value = argument(call.arguments, rule.argument)
        if value is not None and value not in rule.values:
            yield _breach(rule, (call,), f"{rule.argument} of {call.name} has a value that is not allowed")


def _said(rule: NeverSaid, run: Trajectory) -> Iterator[Breach]:
    pattern = expression(rule.pattern)
    for turn in run.turns:
        if turn.actor is Actor.AGENT and not turn.earlier and pattern.search(turn.message.text[:SAID]):
            yield Breach(
                rule=rule.name, reason=rule.reason, span_ids=(turn.span_id,), what="the agent said what it must not"
            )


def argument(arguments: Any, path: str) -> Any:
    """The value at a path of names with dots; None where there is none."""
    for name in path.split("."):
        if not isinstance(arguments, dict) or name not in arguments:
            return None
        arguments = arguments[name]
    return arguments
