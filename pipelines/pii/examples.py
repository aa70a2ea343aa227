"""Examples of masking: made-up texts as masking leaves them, and masked context of stored runs.

Neither shows a raw value. A made-up text is synthetic and shown after masking. A stored text was masked before it was
stored; around a value some characters of it are shown, and the value's place holds its type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

from governance.ports.masker import Finding, Masker
from governance.records.message import TextPart
from governance.records.rights import Purpose
from governance.records.trajectory import Trajectory
from pipelines.wiring import Mill

_AROUND: Final = 60
_DAYS: Final = timedelta(days=30)
_BATCH: Final = 64
MADE_UP: Final = (
    "Hello, my name is Clara Barlow and my order SO-1234 is late. Write to clara.barlow@corp.example.",
    "Please call me on +1 415 555 0132 before May 20, 2024.",
    "My card is 4111 1111 1111 1111 and my flight HAT041 leaves from EWR.",
    "제 이메일은 clara@corp.example 이고 주문 번호는 SO-1234 입니다.",
    "I missed the flight since I was in hospital with pneumonia.",
    json.dumps({"passenger": {"first_name": "Clara", "dob": "1990-01-02"}, "order_id": "SO-1234", "amount": 12.5}),
)
Part = dict[str, str]
Example = dict[str, Any]


def made_up(masker: Masker, tenant_id: str) -> list[Example]:
    """The made-up texts, masked."""
    examples = []
    for masked in masker.mask(tenant_id, list(MADE_UP)):
        places = [(one.masked_start, one.masked_end, one.entity_type) for one in masked.findings if not one.pointer]
        outcome = "quarantined: " + ", ".join(masked.quarantine) if masked.quarantine else "masked"
        types = sorted({one.entity_type for one in masked.findings})
        examples.append({"parts": _parts(masked.value, places), "types": types, "outcome": outcome})
    return examples


def stored(mill: Mill, tenants: Sequence[str], most: int) -> list[Example]:
    """Masked context of the newest runs: at most so many values in all. The read is audited."""
    examples: list[Example] = []
    for tenant_id in tenants:
        texts = list(_texts(_newest(mill, tenant_id)))
        for start in range(0, len(texts), _BATCH):
            part = texts[start : start + _BATCH]
            for (channel, text), masked in zip(
                part, mill.masker.mask(tenant_id, [one[1] for one in part]), strict=True
            ):
                made = [
                    {"tenant": tenant_id, "channel": channel, "parts": parts}
                    for parts in _contexts(text, masked.findings)
                ]
                examples += made[: most - len(examples)]
            if len(examples) >= most:
                return examples
    return examples


def _newest(mill: Mill, tenant_id: str) -> Iterable[Trajectory]:
    now = mill.clock.now()
    found = mill.store.trajectories.list(Purpose.COMPLY, [tenant_id], now - _DAYS, now)
    return reversed(found.rows)


def _texts(runs: Iterable[Trajectory]) -> Iterator[tuple[str, str]]:
    """Channel and text of what was said, each text once."""
    seen: set[str] = set()
    for run in runs:
        for turn in run.turns:
            for part in turn.message.parts:
                if isinstance(part, TextPart) and part.text and part.text not in seen:
                    seen.add(part.text)
                    yield turn.message.role.value, part.text


def _contexts(text: str, findings: Iterable[Finding]) -> Iterator[list[Part]]:
    """For each value what stands around it, other values in it hidden as well."""
    places = sorted((one.start, one.end, one.entity_type) for one in findings if not one.pointer)
    for start, end, _ in places:
        low, high = max(0, start - _AROUND), min(len(text), end + _AROUND)
        inside = [one for one in places if one[0] < high and low < one[1]]
        low, high = min(low, inside[0][0]), max(high, inside[-1][1])
        shifted = [(first - low, last - low, kind) for first, last, kind in inside]
        parts = _parts(text[low:high], shifted)
        yield [{"text": f"[{one['type']}]", "type": one["type"]} if one["type"] else one for one in parts]


def _parts(text: str, places: Iterable[tuple[int, int, str]]) -> list[Part]:
    """The text in pieces, each value a piece of its own."""
    parts, done = [], 0
    for start, end, kind in sorted(places):
        parts += [{"text": text[done:start], "type": ""}, {"text": text[start:end], "type": kind}]
        done = end
    return [part for part in [*parts, {"text": text[done:], "type": ""}] if part["text"]]
