"""A personal value cannot hide in its spelling: escapes, broken JSON, hidden characters, entities, percent signs."""

from __future__ import annotations

import json
import unicodedata
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.keys import DerivedKeyProvider
from governance.masking.annotations import marks_of, shields
from governance.masking.json_tokens import regions
from governance.masking.mapped import Mapped, characters, escapes
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.reading import read
from governance.masking.surrogate import Surrogates
from governance.own_id import HashedId, OwnId
from governance.ports.masker import Masked
from tests.governance.test_masking_annotations import Rules

KEYS = DerivedKeyProvider("spellings")
MASKER = PresidioMasker(KEYS, detector=Rules())
SURROGATES = Surrogates(KEYS, "t")
MAIL, PERSON, PHONE, BORN = "anna@corp.example", 'Zoé "Zed" Miller', "(212) 734-0134", "1990-04-05"
ROW = {"full_name": PERSON, "email": MAIL, "dob": BORN, "note": f"call\n{PHONE}\tnow", "order": "SO-1234", "n": 1.10}
SAID = {value: SURROGATES.make(kind, value) for kind, value in
        {"PERSON": PERSON, "EMAIL_ADDRESS": MAIL, "DATE_OF_BIRTH": BORN, "PHONE_NUMBER": PHONE}.items()}  # fmt: skip


def masked(text: str) -> str:
    [made] = MASKER.mask("t", [text])
    assert isinstance(made.value, str)
    return made.value


def replaced(value: Any) -> Any:
    """What masking makes of the row."""
    if isinstance(value, str):
        for one, made in SAID.items():
            value = value.replace(one, made)
        return value
    if isinstance(value, dict):
        return {key: replaced(item) for key, item in value.items()}
    return value


PLAIN, ASCII = json.dumps(ROW, ensure_ascii=False), json.dumps(ROW)
WHERE = [
    "Result: {}", "{}\n{}\n", "```json\n{}\n```", "[1] {} and {}", "data: {}\n\ndata: [DONE]", "{},", "\ufeff{}",
    "} {}", '{{"x": NaN, "row": {}}}', '{{"a": 1, "a": {}}}', '[{}, {}, {{"n', "args={} took 3 ms", "({})",
]  # fmt: skip


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("row", [PLAIN, ASCII, json.dumps(ROW, indent=2)])
def test_json_in_a_text_is_masked_as_the_same_json_alone(where: str, row: str) -> None:
    made = masked(where.replace("{}", row).replace("{{", "{").replace("}}", "}"))
    alone = json.dumps(replaced(ROW), ensure_ascii=False)
    begin = made.index('"full_name"')
    found, _ = json.JSONDecoder().raw_decode("{" + made[begin:])
    assert found == json.loads(alone)


@pytest.mark.parametrize("text", [PLAIN, ASCII, json.dumps({"body": ASCII}), repr(ROW), "x " + json.dumps([[ASCII]])])
@pytest.mark.parametrize("front", [0, 1, 17])
def test_json_that_is_cut_off_keeps_no_whole_value(text: str, front: int) -> None:
    for end in range(front, len(text) + 1, 5):
        made = masked(text[front:end])
        for value in (MAIL, BORN, PHONE, *(("Zoé", "Zo\\u00e9", "Miller") if front < 2 else ())):
            assert value not in made, (value, text[front:end])


BORN_MADE = SAID[BORN]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{'at': datetime.datetime(2024, 5, 1, 0, 0), 'dob': '1990-04-05'}",
         f"{{'at': datetime.datetime(2024, 5, 1, 0, 0), 'dob': '{BORN_MADE}'}}"),
        ("{'at': f(g('}'), {'a': 1}), 's': <S.OPEN: 1>, 'x': nil, 'dob': '1990-04-05'}",
         f"{{'at': f(g('}}'), {{'a': 1}}), 's': <S.OPEN: 1>, 'x': nil, 'dob': '{BORN_MADE}'}}"),
        ("{u'dob': u'1990-04-05', b'x': b'y'}", f"{{u'dob': u'{BORN_MADE}', b'x': b'y'}}"),
        ('{"id"=>7, "dob"=>"1990-04-05"}', f'{{"id"=>7, "dob"=>"{BORN_MADE}"}}'),
        ('{:id => 7, :dob=>"1990-04-05"}', f'{{:id => 7, :dob=>"{BORN_MADE}"}}'),
        ("['id' => 7, 'dob' => '1990-04-05']", f"['id' => 7, 'dob' => '{BORN_MADE}']"),
        ("{'user': U(mail='anna@corp.example', n=1), 'x': 1}", f"{{'user': U(mail='{SAID[MAIL]}', n=1), 'x': 1}}"),
        ("{'phone': Decimal('2127340134'), 'dob': D('1990-04-05')}",
         f"{{'phone': Decimal('{SURROGATES.make('PHONE_NUMBER', '2127340134')}'), 'dob': D('{BORN_MADE}')}}"),
    ],
)  # fmt: skip
def test_what_a_program_prints_keeps_the_names_of_its_fields(text: str, expected: str) -> None:
    assert masked(text) == expected
    assert masked(f"row: {text} done") == f"row: {expected} done"


def test_a_date_that_python_prints_is_the_date() -> None:
    made = masked("{'dob': datetime.date(1990, 4, 5), 'day': datetime.date(1990, 4, 5)}")
    numbers = ", ".join(str(int(part)) for part in BORN_MADE.split("-"))
    assert made == f"{{'dob': datetime.date({numbers}), 'day': datetime.date(1990, 4, 5)}}"


@pytest.mark.parametrize("space", ["%20", "+", "%2520"])
@pytest.mark.parametrize("where", ["https://a.example/x?to={}&n=1%20a", "to={}", "?a=1&to={}#top"])
def test_a_value_with_encoded_spaces_in_an_address_is_masked(space: str, where: str) -> None:
    made = quote(SURROGATES.make("PERSON", "Anna Miller"), safe="")
    right = made.replace("%20", "+") if space == "+" else made
    text = f"GET {where} HTTP/1.1"
    assert masked(text.replace("{}", f"Anna{space}Miller")) == text.replace("{}", right)


def test_a_part_of_a_path_is_decoded() -> None:
    assert masked("/to/Anna%20Miller/x") == f"/to/{quote(SURROGATES.make('PERSON', 'Anna Miller'))}/x"


@pytest.mark.parametrize("text", ["a=b+c d=1+2", "t=aGVsbG8+d29ybGQ=", "x=1+1%20%21", "50%+ 3 = 7+8"])
def test_a_plus_that_holds_nothing_stays(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("front", ["x ", "", 'y {"a": 1} and '])
def test_two_names_with_one_surrogate_are_two_members(front: str) -> None:
    row = {MAIL: 1, "anna&#64;corp.example": 2, "x": {"an\u200bna@corp.example": 3, MAIL: 4}, f"at {MAIL}": 5}
    text = front + json.dumps([row, row])
    [made] = MASKER.mask("t", [text])
    [alone] = MASKER.mask("t", [[row, row]])
    assert json.loads(str(made.value).removeprefix(front)) == alone.value
    assert len(alone.value[0]) == 4
    [again] = MASKER.mask_again("t", [made.value], marks_of(made))
    assert again.value == made.value
    assert shields(again.marks) == shields(marks_of(made))


@pytest.mark.parametrize(
    "text",
    [
        r'{"path":"C:\\users","p":"a\/b"}',
        r'{"html":"\u003cb\u003e"}',
        r'{"a":"\ud83d"}',
        '{ "a" :\t1.10 }\n',
    ],
)
def test_json_in_which_nothing_is_found_stays_byte_for_byte(text: str) -> None:
    assert masked(text) == text
    assert MASKER.mask("t", [{"x": text}])[0].value == {"x": text}


def test_an_edit_never_breaks_an_escape() -> None:
    for text in (f'Result: {{"t": "x\\n{MAIL}\\u0020"}}', f'log "\\u00e9 {MAIL}\\n"', f"p='\\\\n{MAIL}\\\\'"):
        assert masked(text) == text.replace(MAIL, SAID[MAIL])


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("an\u200bna@corp\u00ad.exa\ufeffmple", MAIL),
        ("anna%40corp.example", MAIL),
        ("anna%2540corp.example", MAIL),
        ("anna&#64;corp.example", MAIL),
        ("anna&commat;corp&#x2e;example", MAIL),
        ("\\u0061nna\\u0040corp.example", MAIL),
        ("(212)\u2060 734\u200d-0134", PHONE),
        ("\U0001d41a\U0001d427na@corp.example", MAIL),
    ],
)
def test_a_value_is_the_same_however_it_is_spelled(spelled: str, value: str) -> None:
    made = SAID[value]
    for text in (f"write to {spelled} now", f'{{"x": {json.dumps(spelled)}', json.dumps({"text": spelled})):
        found = masked(text)
        assert any(one in found for one in (made, quote(made, safe=""))), found
        assert spelled not in found


def test_a_decomposed_name_is_the_composed_one() -> None:
    name = "Zoé Müller"
    for form in ("NFC", "NFD", "NFKD"):
        row = json.dumps({"full_name": unicodedata.normalize(form, name)}, ensure_ascii=False)
        assert json.loads(masked(row)) == {"full_name": SURROGATES.make("PERSON", name)}
        assert SURROGATES.make("PERSON", name) in masked("Row: " + row)


def test_parameters_of_an_address_stay_parameters() -> None:
    text = f"GET https://x.example/a?to={quote(MAIL)}&first=1%20a&page=2#top"
    assert masked(text) == text.replace(quote(MAIL), quote(SAID[MAIL], safe=""))


@pytest.mark.parametrize(
    "spelled",
    ["harbor-\u200b0012", "harbor\\u002d0012", "\uff48arbor-0012", "h&#97;rbor-0012", '{"a": "h\\u0061rbor-0012'],
)
def test_an_own_id_is_hidden_in_any_spelling(spelled: str) -> None:
    for hides in (OwnId("harbor-0012", "HASH"), HashedId("HASH", lambda raw: "HASH" if raw == "harbor-0012" else "")):
        hidden = hides.hidden(Masked(value={"text": f"of {spelled} and", "page": "?a=harbor%2D0012"}))
        assert "0012" not in json.dumps(hidden.value), hidden.value
    clean = Masked(value={"text": "of 100% \\u00e9 &#"})
    assert OwnId("harbor-0012", "HASH").hidden(clean) is clean


HIDDEN = st.sampled_from(["", "", "\u200b", "\u00ad", "\u200d", "\ufeff"])


@st.composite
def spellings(draw: st.DrawFn, value: str) -> str:
    """A value in one of its spellings, for a string of JSON."""
    chars = "".join(char + draw(HIDDEN) for char in value)
    how = draw(st.sampled_from(["json", "ascii", "entities", "all"]))
    if how == "entities":
        return "".join(f"&#{ord(char)};" if char in "@.ü" else char for char in chars)
    if how == "all":
        return "".join(f"\\u{ord(char):04x}" for char in chars)
    return json.dumps(chars, ensure_ascii=how == "ascii")[1:-1]


AROUND = st.sampled_from(
    ["", "ok ", "Result: ", "\n", "}", '"', "{", "```json\n", "é ", "\\", "a\u0301 ", "%", "&amp; "]
)


@given(
    spellings("anna@corp.example"),
    AROUND,
    AROUND,
    st.sampled_from(["email", "text", "contact.mail", "x"]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_no_spelling_of_a_planted_value_survives(spelled: str, front: str, back: str, name: str, whole: bool) -> None:
    text = f'{front}{{"{name}": "{spelled}"{"}" if whole else ""}{back if whole else ""}'
    [made] = MASKER.mask("t", [text])
    said = characters(escapes(Mapped.of(str(made.value)), paths=False)).text
    assert "anna@" not in said
    assert spelled not in str(made.value)
    [again] = MASKER.mask_again("t", [made.value], marks_of(made))
    assert again.value == made.value
    assert shields(again.marks) == shields(marks_of(made))


PIECES = st.sampled_from(
    ['{"', '"}', '":', ": ", '"', "'", "\\", "\\u00", "\\u00e9", "\\ud83d", "[", "{", "]", "}", ",", "1", "-", ".5e",
     "NaN", "a", "dob", "%4", "%40", "&#6", "&amp;", "\n", " ", "\u0301", "\u200b", "\ud800", "가", "\u1100\u1161",
     "\U0001f469\u200d"]
)  # fmt: skip
ANY = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)


@given(ANY)
@settings(max_examples=60, deadline=None)
def test_any_text_is_read_in_order_and_within_itself(text: str) -> None:
    reading = read(text)
    last = 0
    for segment in reading.segments if reading else []:
        begin, end = segment.said.raw(0, len(segment.text))
        assert last <= begin < end <= len(text)
        assert list(segment.said.begins) == sorted(segment.said.begins)
        assert all(one < other for one, other in zip(segment.said.begins, segment.said.ends, strict=True))
        last = end
    if "@" not in text and "dob" not in text:
        assert masked(text) == text


@pytest.mark.parametrize(
    "piece", ['{"', "\\u00", '{"a":', '"a":', "[{", '"\\"', "{'", '{"a":"\n', "&amp;", "%25", "a\u0301", "'a':"]
)
def test_a_hostile_text_is_read_in_the_end(piece: str) -> None:
    text = piece * 4_000
    assert sum(region.end - region.start for region in regions(text)) <= len(text)
    reading = read(text)
    assert reading is None or sum(len(one.text) for one in reading.segments) <= 2 * len(text)
