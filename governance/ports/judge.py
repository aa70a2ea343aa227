"""The model that judges: messages in, a text out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple


class ChatMessage(NamedTuple):
    """One message of a conversation with a judge."""

    role: str
    content: str


class JudgeModel(ABC):
    """A model that answers."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is, exactly enough that another one has another name."""

    @abstractmethod
    def complete(self, messages: Sequence[ChatMessage]) -> str:
        """The reply.

        Raises:
            TidemillError: of the implementing package, when it does not answer.

        """
