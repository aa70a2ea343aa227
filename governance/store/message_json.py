"""The JSON of a message as a block holds it: byte for byte what ``dump_json`` gives of its plain values."""

from __future__ import annotations

from json.encoder import encode_basestring_ascii

from governance.records.message import Message, TextPart
from governance.store.base import dump_json


def message_json(message: Message) -> str:
    """The JSON of a message; of one text, as most are, without a dump of its parts."""
    if len(message.parts) == 1 and isinstance(part := message.parts[0], TextPart):
        text = encode_basestring_ascii(part.text)
        return f'{{"parts":[{{"text":{text},"type":"text"}}],"role":"{message.role._value_}"}}'
    return dump_json(message.plain())
