"""Messages between customer, agent, tools and people, in the form of the OTel GenAI semantic conventions.

Source: OpenTelemetry GenAI semantic conventions, ``gen-ai-input-messages.json`` and
``gen-ai-output-messages.json`` (part types ``text``, ``tool_call``, ``tool_call_response``).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from governance.records.base import Record


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"

    __hash__ = str.__hash__  # equal to its text, so it hashes as its text does, and without a call of Python's


class TextPart(Record):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str


class ToolCallPart(Record):
    """A call the assistant asks for. ``arguments`` is one JSON value, or the raw text when ``corrupt``."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments: Any
    corrupt: bool = False
    """The arguments were not exactly one JSON value; such a call is never trained on."""


class ToolResultPart(Record):
    """What a tool answered."""

    type: Literal["tool_call_response"] = "tool_call_response"
    id: str
    response: Any


Part = Annotated[TextPart | ToolCallPart | ToolResultPart, Field(discriminator="type")]


class Message(Record):
    """One message: a role and its parts, in order."""

    role: Role
    parts: tuple[Part, ...]

    def plain(self) -> dict[str, Any]:
        """The record as JSON-ready values; of texts alone, as most messages are, without asking each field how."""
        texts = self.texts
        if texts is None:
            return super().plain()
        return {"role": self.role.value, "parts": [{"type": "text", "text": text} for text in texts]}

    @property
    def texts(self) -> list[str] | None:
        """What it says, where it is nothing but texts; else None."""
        texts = [part.text for part in self.parts if isinstance(part, TextPart)]
        return texts if len(texts) == len(self.parts) else None

    @property
    def text(self) -> str:
        """The text parts, joined by line breaks."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))


def text_message(role: Role, text: str) -> Message:
    """A message of one text part."""
    return Message.proven(role=role, parts=(TextPart.proven(text=text),))
