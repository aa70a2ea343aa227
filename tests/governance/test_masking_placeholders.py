"""Nothing leaves with a surrogate: typed placeholders in texts made from traces, and a check of what goes out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.keys import DerivedKeyProvider
from governance.masking.annotations import text_name
from governance.masking.output_check import KeyedSurrogateCheck
from governance.masking.placeholders import PLACEHOLDER, filled, templated
from governance.masking.surrogate import Surrogates
from governance.records.mark import Mark

KEYS = DerivedKeyProvider("placeholders")
HERE = Surrogates(KEYS, "here")
CHECK = KeyedSurrogateCheck(KEYS)
TOLD = {
    "PERSON": "Anna Miller",
    "EMAIL_ADDRESS": "anna@corp.example",
    "PHONE_NUMBER": "(212) 734-0134",
    "CREDIT_CARD": "4111 1111 1111 1111",
    "IBAN_CODE": "DE89 3704 0044 0532 0130 00",
    "US_SSN": "536-22-1234",
    "KR_RRN": "971013-9019902",
    "UK_NHS": "943 476 5919",
    "IP_ADDRESS": "83.12.4.7",
    "URL": "https://corp.example/people/anna",
    "SECRET": "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
}
FORMS = {
    "PHONE_NUMBER": ["+1 212-734-0134", "010-9234-5678", "+82 10-9234-5678", "+44 7911 123456", "+33 6 12 34 56 78"],
    "PERSON": ["김민수", "ANNA MILLER", "Анна Петрова", "さくら", "anna"],
    "IP_ADDRESS": ["fe80::1"],
    "LOCATION": ["12 Alder Street, Northport"],
}


@pytest.mark.parametrize(
    ("entity", "value"), [*TOLD.items(), *((kind, one) for kind, forms in FORMS.items() for one in forms)]
)
def test_a_surrogate_is_told_in_a_text_without_a_table(entity: str, value: str) -> None:
    text = f"Well: {HERE.make(entity, value)}, as said."
    places = CHECK.places("here", text)
    assert places, text
    if entity != "LOCATION":
        assert {one.entity_type for one in places} == {entity}
        covered = " ".join(text[one.start : one.end] for one in places)
        missing = set(re.findall(r"\w+", HERE.make(entity, value))) - set(re.findall(r"\w+", covered))
        assert missing <= {"https"}
    assert CHECK.places("here", f"Well: {value}, as said.") == ()


def test_names_are_told_by_their_own_tenant_alone() -> None:
    names = [HERE.make("PERSON", f"{first} {last}") for first in ("Anna", "Peter") for last in ("Ash", "Birch", "Cole")]
    here = sum(len(CHECK.places("here", name)) for name in names)
    there = sum(len(CHECK.places("there", name)) for name in names)
    assert here == 2 * len(names)
    assert there < len(names)


def test_texts_that_people_wrote_hold_none(cases_dir: Path) -> None:
    lines = (cases_dir / "pii" / "tau_structured" / "cases.jsonl").read_text().splitlines()[:600]
    texts = [json.loads(line)["text"] for line in lines]
    assert [one for text in texts for one in CHECK.places("here", text)] == []


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_can_be_checked(text: str) -> None:
    places = CHECK.places("here", text)
    assert all(0 <= one.start < one.end <= len(text) for one in places)


def test_what_was_given_is_no_leak() -> None:
    name = HERE.make("PERSON", "Anna")
    mail = HERE.make("EMAIL_ADDRESS", "anna@corp.example")
    said = f"Dear {name}, we wrote to {mail}."
    assert CHECK.unprompted("here", said, [f"I am {name}", f"mail {mail}"]) == ()
    assert CHECK.unprompted("here", said, [f"I am {name}"]) == ("EMAIL_ADDRESS",)
    assert set(CHECK.unprompted("here", said, [])) == {"PERSON", "EMAIL_ADDRESS"}


def test_placeholders_say_who_is_who() -> None:
    anna, zed = HERE.make("PERSON", "Anna Miller"), HERE.make("PERSON", "Peter Birch")
    mail = HERE.make("EMAIL_ADDRESS", "anna@corp.example")
    text = f"{anna} asked; {zed} answered {anna} at {mail}."
    made = templated(text, "here", CHECK)
    assert made == "{person.1} asked; {person.2} answered {person.1} at {email_address.1}."
    assert CHECK.places("here", made) == ()
    assert templated(made, "here", CHECK) == made
    assert filled(made, {"person.1": "Clara"}) == "Clara asked; {person.2} answered Clara at {email_address.1}."
    assert all(PLACEHOLDER.fullmatch(one) for one in re.findall(r"\{[^}]*\}", made))


def test_recorded_marks_tell_what_no_form_does() -> None:
    born = HERE.make("DATE_OF_BIRTH", "1990-04-05")
    text = f"Born {born}, flew on 2024-05-20."
    mark = Mark(text=text_name(text), start=5, end=5 + len(born), entity_type="DATE_OF_BIRTH")
    assert templated(text, "here", CHECK) == text
    assert templated(text, "here", CHECK, [mark]) == "Born {date_of_birth.1}, flew on 2024-05-20."
    assert templated(text, "here", CHECK, [mark.model_copy(update={"text": text_name("another")})]) == text
