"""A value that a stream or content parts cut in two is found and masked; nothing else moves."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.door import Door
from governance.masking.presidio_masker import PresidioMasker
from governance.records.content import AdmittedSpan
from governance.records.message import TextPart
from governance.records.rights import Basis, Contract, Purpose, PurposeTerm
from governance.remasking import remasked
from governance.store import Store
from governance.whole_values import whole_values
from ingestion import dialects
from tests.governance.masking_lists import KEYS, PatternDetector
from tests.ingestion.otlp_bodies import make_span
from tests.support.clock import START, ManualClock

MASKER = PresidioMasker(KEYS, detector=PatternDetector())
PLANTED = "ann.miller@corp.example"


def whole(value: Any) -> Any:
    before = copy.deepcopy(value)
    (made,) = whole_values(MASKER, "t", [value])
    assert value == before, "what was given stays as it is"
    return made


def parts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


def deltas(*texts: str) -> list[dict[str, Any]]:
    first = {"role": "assistant"}
    return [{"choices": [{"delta": ({} if n else first) | {"content": text}}]} for n, text in enumerate(texts)]


def events(name: str, *texts: str) -> dict[str, Any]:
    return {"events": [{"event_name": name, "attributes": {"content": text}} for text in texts]}


def delta(**held: Any) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": held}]}


def block(index: int, **held: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": held}


def call(index: int, arguments: str) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}}


def candidates(*texts: str) -> dict[str, Any]:
    told = [{"content": {"parts": [{"text": text}], "role": "model"}, "index": n} for n, text in enumerate(texts)]
    return {"candidates": told, "modelVersion": "m"}


def choices(*texts: str) -> dict[str, Any]:
    """A chunk of several answers at once."""
    return {"choices": [{"index": n, "delta": {"content": text}} for n, text in enumerate(texts)]}


BETWEEN = [
    delta(),
    {"object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 3}},
    {"type": "ping"},
    {"event_name": "heartbeat", "attributes": {"n": "1"}},
]
STREAMS = [
    *([delta(content="ann.mil"), other, delta(content="ler@corp.example")] for other in BETWEEN),
    *([block(0, type="text_delta", text="ann.mil"), o, block(0, text="ler@corp.example")] for o in BETWEEN),
    {
        "events": [
            events("llm.chunk", "ann.mil")["events"][0],
            BETWEEN[3],
            *events("llm.chunk", "ler@corp.example")["events"],
        ]
    },
    [delta(tool_calls=[call(0, '{"to": "ann.mil')]), delta(tool_calls=[call(0, 'ler@corp.example"}')])],
    [delta(tool_calls=[call(0, "x"), call(1, "ann.mil")]), delta(tool_calls=[call(1, "ler@corp.example")])],
    [block(1, partial_json='{"a": "ann.mil'), block(0, text="so "), block(1, partial_json='ler@corp.example"}')],
    [choices("ann.mil", "hi"), choices("ler@corp.example", "you")],
    [choices("hi", "ann.mil"), choices("you", "ler@corp.example")],
    [candidates("hi", "ann.mil"), candidates("you", "ler@corp.example")],
    [{"choices": [{"text": "ann.mil", "index": 0}]}, {"choices": [{"text": "ler@corp.example", "index": 0}]}],
    [{"model": "m", "done": False, "message": {"content": text}} for text in ("ann.mil", "ler@corp.example")],
    [{"type": "chunk", "index": n, "text": text} for n, text in enumerate(("ann.mil", "ler@corp.example"))],
    [
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}}}
        for text in ("ann.mil", "ler@corp.example")
    ],
    [{"type": "message_chunk", "role": "assistant", "content": text} for text in ("ann.mil", "ler@corp.example")],
    [
        {"token": {"id": 7, "text": text, "logprob": -0.1}, "generated_text": None}
        for text in ("ann.mil", "ler@corp.example")
    ],
    [{"event_type": "text-generation", "text": text} for text in ("ann.mil", "ler@corp.example")],
    parts("write to ann.mil", "ler@corp.example, please"),
    {"parts": [*parts("write to ann", ".miller", "@corp.example"), {"type": "tool_call", "name": "x"}]},
    deltas("ann.mil", "ler@corp.example"),
    [{"type": "response.output_text.delta", "delta": text} for text in ("ann.miller@co", "rp.example")],
    events("gen_ai.content.chunk", "ann.", "miller@corp.example"),
    {"result": {"content": parts("ann.miller@corp", ".example is the address")}},
]


@pytest.mark.parametrize("value", STREAMS)
def test_a_value_in_two_pieces_is_put_into_the_first(value: Any) -> None:
    assert PLANTED not in json.dumps(value)
    made = whole(value)
    assert PLANTED in json.dumps(made)
    (masked,) = MASKER.mask("t", [made])
    assert not any(part in json.dumps(masked.value) for part in ("ann.", "miller", "corp"))


@pytest.mark.parametrize(
    "value",
    [
        [{"text": "ann.mil"}, {"text": "ler@corp.example"}],
        [{**one, "role": "user"} for one in parts("ann.mil", "ler@corp.example")],
        ["ann.mil", "ler@corp.example"],
        [choices("ann.mil", "ler@corp.example"), choices(" is", " not")],
        [block(0, text="ann.mil"), block(1, text="ler@corp.example"), block(0, text=" x"), block(1, text=" y")],
        [{**delta(content="ann.mil"), "role": "user"}, {**delta(content="ler@corp.example"), "role": "assistant"}],
        [parts("ann.mil")[0], {"type": "image", "url": "x"}, parts("ler@corp.example")[0]],
        events("exception", "ann.mil", "ler@corp.example"),
        parts("write to ann.miller@corp.example", " or not"),
        parts("ann.miller@corp.example"),
        {"a": 1, "b": [None, 2.5, {"text": 3}]},
    ],
)
def test_records_that_are_no_pieces_and_whole_values_stay(value: Any) -> None:
    (made,) = whole_values(MASKER, "t", [value])
    assert made is value


def test_json_that_a_stream_cut_is_read_whole() -> None:
    made = whole(parts('{"email": "zz', '@corp.example", "n": 1}'))
    assert [one["text"] for one in made] == ['{"email": "zz@corp.example", "n": 1}', ""]


@given(
    before=st.text(alphabet="xy ", max_size=8),
    after=st.text(alphabet="xy ", max_size=8),
    cuts=st.lists(st.integers(0, 40), min_size=1, max_size=5),
)
def test_wherever_it_is_cut_it_is_masked_and_no_other_character_is_lost(
    before: str, after: str, cuts: list[int]
) -> None:
    text = f"{before} {PLANTED} {after}"
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[begin:end] for begin, end in pairwise(places)]
    made = whole(parts(*pieces))
    assert "".join(one["text"] for one in made) == text
    assert len(made) == len(pieces)
    (masked,) = MASKER.mask("t", [made])
    said = "".join(one["text"] for one in masked.value)
    assert said.startswith(f"{before} user-")
    assert said.endswith(f"@example.com {after}")


@pytest.fixture
def door(tmp_path: Path, clock: ManualClock) -> Iterator[Door]:
    store = Store.open(f"sqlite:///{tmp_path / 'x.db'}", clock=clock)
    terms = tuple(PurposeTerm(purpose=purpose, basis=Basis.CONTRACT) for purpose in Purpose)
    store.rights.add_contract(Contract(id="c", tenant_id="t", terms=terms, valid_from=START, recorded_at=START))
    yield Door(store, MASKER, KEYS, clock)
    store.close()


def test_the_door_masks_the_message_that_its_parts_make(door: Door) -> None:
    said = [{"type": "text", "content": text} for text in ("I am ann.mil", "ler@corp.example and", " well")]
    result = parts("found ann.miller@cor", "p.example")
    chat = make_span(1, attributes={
        "gen_ai.operation.name": "chat", "user.id": "cust-0012",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": said}]),
    })  # fmt: skip
    tool = make_span(2, 1, attributes={
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find",
        "gen_ai.tool.call.result": json.dumps({"content": result}),
    })  # fmt: skip
    sent = [(dialects.strip(span), dialects.read(span), "cust-0012") for span in (chat, tool)]
    asked, found = door.admit("t", sent)
    assert isinstance(asked, AdmittedSpan)
    assert isinstance(found, AdmittedSpan)
    assert asked.content is not None
    assert found.content is not None
    text = asked.model_dump_json() + found.model_dump_json()
    assert not any(part in text for part in ("ann.", "miller", "corp", "ler@", '"p.example'))
    texts = [part.text for part in asked.content.input[0].parts if isinstance(part, TextPart)]
    assert texts[1:] == [" and", " well"]
    assert len(found.content.tool_result["content"]) == 2
    assert len(found.mentions) == 1
    assert set(found.mentions) <= set(asked.mentions)
    remade = remasked(MASKER, "t", [asked, found])
    assert (remade.spans, remade.masked) == ([asked, found], Counter()), "masked once, masked for good"


def test_parts_inside_of_chunks_belong_to_one_text_only() -> None:
    said = [
        [{"type": "text", "text": text} for text in two] for two in (("so ann.mil", "x "), ("ler@corp.example", "y"))
    ]
    made = whole([{"delta": {"content": parts_}} for parts_ in said])
    texts = [part["text"] for one in made for part in one["delta"]["content"]]
    assert texts == ["so ann.miller@corp.example", "x ", "", "y"]
