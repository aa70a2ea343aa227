"""The MCP face of a world: one session's tools, offered by the official SDK's server.

Theory. A tool over MCP is the tool in process: the same schema, the same result, the same words of a refusal, marked as
reading or writing as the protocol has it. A refusal is a result with ``isError``, since an agent may read it and go on.
A call that an inferred world cannot answer is an error of the protocol, so no agent takes it for an answer, and the run
ends. One server is one session: whoever connects again finds the state as it was left, and calls wait for each other.

Source: Model Context Protocol, "Tools" and "Tool annotations".
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from governance.ports.tools import ToolRefusal, ToolSession, Unrecorded
from governance.records.harness import Effect, ToolSpec

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server

UNRECORDED: Final = -32001
"""The error code of a call that nothing recorded supports: the first of those that servers may define."""


def server_of(session: ToolSession, tools: Sequence[ToolSpec], name: str) -> Server[Any]:
    """A server of one session's tools."""
    import mcp_types as types
    from mcp import MCPError
    from mcp.server.lowlevel import Server as McpServer

    offered = [_tool(tool) for tool in tools if tool.effect is not Effect.ANSWER]
    turn = asyncio.Lock()

    async def listed(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=offered)

    async def called(_context: Any, params: Any) -> types.CallToolResult:
        async with turn:
            try:
                result = session.call(params.name, dict(params.arguments or {}))
            except ToolRefusal as refusal:
                return _said(str(refusal), {"error_type": refusal.error_type}, refused=True)
            except Unrecorded as error:
                raise MCPError(UNRECORDED, str(error)) from error
        return _said(json.dumps(result, ensure_ascii=False), {"result": result}, refused=False)

    return McpServer(name, on_list_tools=listed, on_call_tool=called)


def _tool(tool: ToolSpec) -> types.Tool:
    import mcp_types as types

    reads = tool.effect is Effect.READ
    hints = types.ToolAnnotations(read_only_hint=reads, open_world_hint=False)
    return types.Tool(
        name=tool.name, description=tool.description, input_schema=dict(tool.parameters), annotations=hints
    )


def _said(text: str, structured: dict[str, Any], *, refused: bool) -> types.CallToolResult:
    import mcp_types as types

    content = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=structured, is_error=refused)
