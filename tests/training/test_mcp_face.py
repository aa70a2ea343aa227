"""A world over MCP, by the official client: the same tools, results and refusals as in process."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from governance.ports.tools import ToolRefusal
from tests.training.test_inferred import SCHEMA, TOOLS, WORLD, Bank, made, played, read
from training.inferred import schema_of
from training.mcp_face import UNRECORDED, server_of
from training.worlds import WorldHost, WorldSession

CALLS = [
    read("acc-1"), ("set_limit", {"account": "acc-1", "limit": 3}), read("acc-1"), read("acc-9"),
    ("close", {"account": "acc-2"}), ("list_owner", {"owner": "own-0"}), ("nothing", {}),
]  # fmt: skip


def opened() -> WorldSession:
    digest = WORLD.digest()
    return WorldHost(Bank(), {digest: WORLD}.__getitem__, SCHEMA).open(digest)


def in_process(session: WorldSession, name: str, arguments: dict[str, Any]) -> tuple[Any, bool]:
    try:
        return session.call(name, arguments), False
    except ToolRefusal as refusal:
        return str(refusal), True


def test_a_call_over_mcp_is_the_call_in_process() -> None:
    from mcp import Client

    ours, theirs = opened(), opened()

    async def talk() -> list[tuple[Any, bool]]:
        said = []
        async with Client(server_of(theirs, TOOLS, "bank")) as client:
            listed = (await client.list_tools()).tools
            assert {(one.name, one.annotations.read_only_hint) for one in listed if one.annotations} == {
                ("get_account", True), ("count_open", True), ("list_owner", True), ("set_limit", False),
                ("close", False),
            }  # fmt: skip
            for name, arguments in CALLS:
                reply = await client.call_tool(name, arguments)
                text = reply.content[0].text  # type: ignore[union-attr]
                said.append((text if reply.is_error else json.loads(text), reply.is_error))
        return said

    assert asyncio.run(talk()) == [in_process(ours, *call) for call in CALLS]
    assert theirs.changes() == ours.changes()


def test_what_nothing_supports_is_an_error_of_the_protocol() -> None:
    from mcp import Client, MCPError

    snapshot, app = made([played([read("acc-1")])])
    digest = snapshot.world.digest()
    session = WorldHost(app, {digest: snapshot.world}.__getitem__, schema_of(TOOLS)).open(digest)

    async def talk() -> None:
        async with Client(server_of(session, TOOLS, "bank")) as client:
            assert not (await client.call_tool(*read("acc-1"))).is_error
            with pytest.raises(MCPError, match="no such call") as told:
                await client.call_tool(*read("acc-2"))
            assert told.value.code == UNRECORDED

    asyncio.run(talk())
