"""The tools that a span declares, with their JSON schemas, in the forms that instrumentations write.

``gen_ai.tool.definitions`` (OpenTelemetry GenAI), ``llm.tools.N.tool.json_schema`` (OpenInference),
``llm.request.functions.N.*`` (OpenLLMetry), ``ai.prompt.tools`` (Vercel AI SDK) and the ``function_tools`` of Pydantic
AI's ``model_request_parameters``. A form that is not what it should be declares nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ingestion.text import NotJson, parse_json

LARGEST: Final = 256 * 1024
"""Characters of a declaration; what is longer is not read."""
_LISTS: Final = ("gen_ai.tool.definitions", "gen_ai.request.tools", "ai.prompt.tools")
_INDEXED: Final = re.compile(r"llm\.tools\.\d+\.tool\.json_schema")
_FUNCTION: Final = re.compile(r"llm\.request\.functions\.(\d+)\.(name|parameters)")
_SCHEMAS: Final = ("parameters", "inputSchema", "input_schema", "parameters_json_schema")


def declared(attributes: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each declared tool's name and schema."""
    for key in _LISTS:
        yield from _of_list(attributes.get(key))
    parameters = _json(attributes.get("model_request_parameters"))
    if isinstance(parameters, dict):
        yield from _of_list(parameters.get("function_tools"))
    functions: dict[str, dict[str, Any]] = {}
    for key, value in attributes.items():
        if _INDEXED.fullmatch(key):
            yield from _of_list([value])
        elif match := _FUNCTION.fullmatch(key):
            functions.setdefault(match[1], {})[match[2]] = value
    yield from _of_list(list(functions.values()))


def _of_list(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    found = _json(value)
    for item in found if isinstance(found, list) else ():
        tool = _json(item)
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict):
            tool = tool["function"]
        if not isinstance(tool, dict):
            continue
        schema = next((_json(tool[name]) for name in _SCHEMAS if tool.get(name) is not None), None)
        if isinstance(schema, dict) and isinstance(schema.get("jsonSchema"), dict):
            schema = schema["jsonSchema"]
        if isinstance(tool.get("name"), str) and isinstance(schema, dict):
            yield tool["name"], schema


def _json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value, set()) if len(value) <= LARGEST else None
    except NotJson:
        return None
