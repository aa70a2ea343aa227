"""Process rules: data in, breaches out."""

from __future__ import annotations

from typing import Any

import pytest

from governance.errors import RecordError
from governance.policy.process import breaches
from governance.records.message import Role, text_message
from governance.records.process_rule import (
    ArgumentAmong,
    ArgumentBounds,
    CalledAtMost,
    NeverCalled,
    NeverSaid,
    OnlyAfter,
    ProcessRule,
    ProcessRules,
)
from governance.records.trajectory import Actor, ToolInvocation, Trajectory, Turn
from tests.governance.store_records import T0, person, trajectory


def call(
    number: int, name: str, arguments: Any = None, *, error: str | None = None, human: bool = False
) -> ToolInvocation:
    return ToolInvocation(
        span_id=f"{number:016x}", call_id=str(number), name=name, arguments=arguments, error=error,
        actor=Actor.HUMAN if human else Actor.AGENT, started_at=T0,
    )  # fmt: skip


def run(*calls: ToolInvocation, says: str = "Done.", by: Actor = Actor.AGENT) -> Trajectory:
    turn = Turn(actor=by, message=text_message(Role.ASSISTANT, says), span_id="f" * 16, at=T0)
    return trajectory(1, subject=person(1)).model_copy(update={"calls": calls, "turns": (turn,)})


def broken(rule: ProcessRule, *calls: ToolInvocation, **held: Any) -> list[int]:
    """The numbers of the spans that break the rule."""
    return [int(span_id, 16) for one in breaches([rule], run(*calls, **held)) for span_id in one.span_ids]


VERIFIED = OnlyAfter(name="verify_first", tool="refund", after="verify*")


def test_a_tool_only_after_another() -> None:
    assert broken(VERIFIED, call(1, "refund")) == [1]
    assert broken(VERIFIED, call(1, "verify_person"), call(2, "refund")) == []
    assert broken(VERIFIED, call(1, "refund"), call(2, "verify_person"), call(3, "refund")) == [1]
    assert broken(VERIFIED, call(1, "verify_person", error="no"), call(2, "refund")) == [2]
    assert broken(VERIFIED, call(1, "refund", error="no")) == [1]
    assert broken(VERIFIED, call(1, "refund", human=True)) == []


def test_a_tool_only_after_another_for_the_same_value() -> None:
    rule = VERIFIED.model_copy(update={"same": ("customer.id",)})
    one, other = {"customer": {"id": 1}}, {"customer": {"id": 2}}
    assert broken(rule, call(1, "verify", one), call(2, "refund", one)) == []
    assert broken(rule, call(1, "verify", one), call(2, "refund", other)) == [2]
    assert broken(rule, call(1, "verify"), call(2, "refund", one)) == []


def test_a_tool_that_may_not_be_called_and_one_that_may_once() -> None:
    assert broken(NeverCalled(name="n", tool="delete_*"), call(1, "delete_all"), call(2, "deleted")) == [1]
    once = CalledAtMost(name="once", tool="refund", times=1)
    assert broken(once, call(1, "refund"), call(2, "refund", error="no")) == []
    assert broken(once, call(1, "refund"), call(2, "refund")) == [1, 2]


def test_bounds_and_values_of_an_argument() -> None:
    rule = ArgumentBounds(name="b", tool="refund", argument="amount", most=100)
    assert broken(rule, call(1, "refund", {"amount": 100}), call(2, "refund", {"amount": 100.5})) == [2]
    for harmless in ({"amount": "500"}, {"amount": True}, {"sum": 500}, None, [500]):
        assert broken(rule, call(1, "refund", harmless)) == []
    assert broken(rule.model_copy(update={"least": 1}), call(1, "refund", {"amount": 0})) == [1]
    among = ArgumentAmong(name="a", tool="refund", argument="reason", values=("broken", "late"))
    assert broken(among, call(1, "refund", {"reason": "late"}), call(2, "refund", {"reason": "why not"})) == [2]
    assert broken(among, call(1, "refund", {})) == []


def test_what_may_not_be_said() -> None:
    rule = NeverSaid(name="s", pattern=r"(?i)\bguarantee")
    assert broken(rule, says="We GUARANTEE it.") == [0xFFFFFFFFFFFFFFFF]
    assert broken(rule, says="Probably.") == []
    assert broken(rule, says="We guarantee it.", by=Actor.HUMAN) == []


def test_a_breach_says_nothing_of_what_was_said() -> None:
    (one,) = breaches(
        [ArgumentBounds(name="b", tool="refund", argument="amount", most=1)], run(call(1, "refund", {"amount": 77}))
    )
    assert one.what == "amount of refund must be at most 1"


@pytest.mark.parametrize(
    ("scope", "holds"),
    [({}, True), ({"tenants": ("acme",)}, True), ({"tenants": ("other",)}, False), ({"agents": ("nobody",)}, False)],
)
def test_a_rule_holds_where_it_says(scope: dict[str, Any], holds: bool) -> None:
    assert bool(broken(NeverCalled(name="n", tool="*", **scope), call(1, "refund"))) is holds


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ([{"kind": "never_said", "name": "a", "pattern": "("}], "regular expression"),
        ([{"kind": "never_called", "name": "a", "tool": "x"}] * 2, "several rules are named a"),
        ([{"kind": "sometimes", "name": "a"}], "rule.0"),
        ([{"kind": "called_at_most", "name": "a", "tool": "x", "times": 0}], "times"),
    ],
)
def test_rules_that_are_wrong_say_where(rules: list[Any], says: str) -> None:
    with pytest.raises(RecordError, match=says):
        ProcessRules.parse({"rule": rules}, "rules.toml")
