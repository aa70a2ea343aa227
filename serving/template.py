"""Token ids: from messages to the ids that the model sees, by the harness's chat template and by one rule for BOS.

1. *Exactly one BOS.* The template's text is tokenised without special tokens. When the tokenizer begins a text with
   BOS on its own and the template has not written it, one is put in front; when the template wrote two, it is refused.
   Serving sends ids, never text, so no second BOS can be added on the way, and training uses the same ids.
2. *Sampled ids are kept.* A later step's prompt is the earlier prompt, the ids that were sampled, and the ids of the
   new text alone (end of turn, tool result, next header). What the model said is never tokenised a second time, because
   decoding and encoding may give other ids for the same text, and log-probabilities would belong to other tokens.
3. *A check proves it.* ``check`` compares the steps of a rollout turn by turn, ids with ids and ids with text.

A turn ends with the tokenizer's end-of-sequence token, which the template must write after the assistant's content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from governance.records.message import Message
from governance.records.rollout import RolloutStep
from serving.choice import choices
from serving.errors import TemplateError, TokenMismatch
from serving.prompt import chat

Ids = tuple[int, ...]


def load_tokenizer(model_dir: str) -> Any:
    """The tokenizer of a local model folder; nothing is fetched."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model_dir, local_files_only=True)


class ChatTokens:
    """One tokenizer with one chat template."""

    def __init__(self, tokenizer: Any, chat_template: str) -> None:
        """Refuses a tokenizer without an end-of-sequence token: a turn could not end."""
        if tokenizer.eos_token_id is None:
            raise TemplateError("the tokenizer has no end-of-sequence token, so a turn cannot end")
        self._tokenizer = tokenizer
        self._template = chat_template
        self._end_id = int(tokenizer.eos_token_id)
        self._end_text = str(tokenizer.eos_token)
        bos = tokenizer.bos_token_id
        self._bos = None if bos is None else int(bos)
        self._adds_bos = self._bos is not None and list(tokenizer("a")["input_ids"])[:1] == [self._bos]

    @property
    def end_of_turn(self) -> int:
        """The id that ends a turn."""
        return self._end_id

    def prompt(self, messages: Sequence[Message]) -> Ids:
        """The ids of a conversation up to the header of the assistant's next turn.

        Raises:
            TemplateError: when the template writes BOS twice.

        """
        ids = self._encode(self._render(messages, ask=True))
        if self._bos is not None and ids[:2] == (self._bos, self._bos):
            raise TemplateError(f"the chat template writes the beginning-of-sequence token {self._bos} twice")
        if self._adds_bos and ids[:1] != (self._bos,):
            return (self._bos or 0, *ids)
        return ids

    def reply(self, text: str) -> Ids:
        """The ids of an assistant's turn that was written by a person or a script: content and end of turn."""
        return (*self._encode(text), self._end_id)

    def text(self, sampled: Sequence[int]) -> str:
        """What the sampled ids say, without the end of turn."""
        kept = list(sampled[:-1]) if sampled and sampled[-1] == self._end_id else list(sampled)
        return str(self._tokenizer.decode(kept, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def choices(self, sampled: Sequence[int], offered: Sequence[str]) -> tuple[int, ...]:
        """Positions of the sampled ids that rule out an offered tool."""
        return choices(sampled, offered, self.text)

    def follow(self, prompt: Ids, sampled: Ids, said: Sequence[Message], news: Sequence[Message]) -> Ids:
        """The next step's prompt: ``prompt``, the ids that were ``sampled``, and the ids of ``news`` alone.

        ``said`` is the conversation up to and including the assistant's message that was sampled.
        """
        closed = sampled if sampled[-1:] == (self._end_id,) else (*sampled, self._end_id)
        return (*prompt, *closed, *self._encode(self._tail(said) + self._news(said, news)))

    def _news(self, said: Sequence[Message], news: Sequence[Message]) -> str:
        before, after = self._render(said, ask=False), self._render([*said, *news], ask=True)
        if not after.startswith(before):
            raise TemplateError("the chat template rewrites earlier turns when a message is added; ids cannot be kept")
        return after[len(before) :]

    def _tail(self, said: Sequence[Message]) -> str:
        """What the template writes behind the end of the assistant's turn: a line break in most."""
        turn = chat(said[-1:])[0]["content"] + self._end_text
        before, after = self._render(said[:-1], ask=True), self._render(said, ask=False)
        if not after.startswith(before + turn):
            raise TemplateError("the chat template does not write header, content and end of turn as they are")
        return after[len(before) + len(turn) :]

    def check(self, steps: Sequence[RolloutStep]) -> None:
        """Compare ids turn by turn.

        Raises:
            TokenMismatch: naming the step whose ids are not the ones sampled before it, or do not say its text.

        """
        for index, step in enumerate(steps):
            if self.text(step.output_token_ids) != step.text:
                raise TokenMismatch(f"step {index}: its ids say another text than the one recorded")
            if index == 0:
                continue
            last = steps[index - 1]
            kept = (*last.prompt_token_ids, *last.output_token_ids)
            if step.prompt_token_ids[: len(kept)] != kept:
                raise TokenMismatch(f"step {index}: its prompt does not begin with the ids of step {index - 1}")

    def _render(self, messages: Sequence[Message], *, ask: bool) -> str:
        rendered = self._tokenizer.apply_chat_template(
            chat(messages), chat_template=self._template, tokenize=False, add_generation_prompt=ask
        )
        return str(rendered)

    def _encode(self, text: str) -> Ids:
        return tuple(int(token) for token in self._tokenizer(text, add_special_tokens=False)["input_ids"])
