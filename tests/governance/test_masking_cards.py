"""Card numbers: every scheme's ranges and lengths are found where a card is spoken of, and ordinary ids never are."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stdnum import luhn

from governance.masking.detection import Detector, TextKind
from governance.masking.recognisers.accounts import RANGES
from governance.masking.spans import THRESHOLD

FEW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
DIGITS = "0123456789"


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector()


def cards(detector: Detector, text: str) -> list[str]:
    [hits] = detector.find([(text, TextKind.CODE)])
    return [text[hit.start : hit.end] for hit in hits if hit.entity_type == "CREDIT_CARD"]


def ended(body: str) -> str:
    return body + luhn.calc_check_digit(body)


@st.composite
def issued(draw: st.DrawFn, *, least: int = 12) -> str:
    """A number of a scheme."""
    one = draw(st.sampled_from([one for one in RANGES if max(one.lengths) >= least]))
    length = draw(st.sampled_from(sorted(size for size in one.lengths if size >= least)))
    head = str(draw(st.integers(int(one.first), int(one.last))))
    return ended(head + draw(st.text(DIGITS, min_size=length - len(head) - 1, max_size=length - len(head) - 1)))


@FEW
@given(issued())
def test_a_number_of_any_scheme_is_found_beside_a_card_and_not_by_itself(detector: Detector, number: str) -> None:
    assert cards(detector, f"What is the limit for card {number}?") == [number]
    assert cards(detector, f"see {number} below") == []
    assert cards(detector, f"the card was charged for order {number}") == []
    assert all(hit.score < THRESHOLD for hit in detector.candidates(number) if hit.entity_type == "CREDIT_CARD")


@FEW
@given(issued(least=16), st.sampled_from(" -"))
def test_in_groups_of_four_it_is_sure(detector: Detector, number: str, gap: str) -> None:
    written = gap.join(number[place : place + 4] for place in range(0, len(number), 4))
    assert cards(detector, f"It says {written} on it.") == [written]


@FEW
@given(issued(), st.sampled_from(DIGITS))
def test_with_a_wrong_check_digit_it_is_no_card(detector: Detector, number: str, last: str) -> None:
    if last != number[-1]:
        assert cards(detector, f"my card {number[:-1]}{last}") == []


@pytest.mark.parametrize(
    "text",
    [
        "payment {} was received",
        "Refund the payment with reference {} to the customer.",
        "tracking number {}, paid by card",
        "trace {} failed at 12:00",
        '{{"order_id": "{}", "status": "paid"}}',
    ],
)
def test_ids_of_twelve_digits_stay_even_with_a_right_check_digit(detector: Detector, text: str) -> None:
    for body in ("50186466790", "67598410343", "61234567890"):
        assert cards(detector, text.format(ended(body))) == []


@pytest.mark.parametrize("number", ["1732924800", "1732924800000", "1732924800000000", "1732924800000000000"])
def test_epoch_times_stay_even_beside_a_card(detector: Detector, number: str) -> None:
    assert cards(detector, f"the card was used at {ended(number[:-1])}") == []
