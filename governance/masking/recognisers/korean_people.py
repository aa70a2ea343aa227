"""Korean names and addresses: by what stands around them, since Korean writes no capitals.

Theory. A Korean name is a surname and one to three syllables, and so are thousands of ordinary words. Only its
surroundings tell it: a label ("성함: ", "예약자명은 "), an honorific or a role behind it ("님", "씨", "고객님"), or the
way people introduce themselves ("저는 ...입니다"); a particle alone where the syllables make a name
(``korean_particles``). What follows a name must be a particle, a copula, an honorific or no
Korean letter, and is cut off. Words that name roles and things are no names: ko-pii's dictionaries of surnames and
common words decide, and the nouns that people are addressed by (``_ROLES``, endings such as 자, 팀). ko-pii's own
detector (labels, titles, ranks) is asked too. Names have three syllables and more; one of two is told by a label alone
that it fills. A name that was told once is told everywhere in the text, and its given part with an honorific.
An address is ko-pii's: a road with a number, or a district with a lot number, under a city or a word for address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ko_pii.dictionaries.common_words import is_common_word
from ko_pii.dictionaries.surnames import surname_prefix_len
from ko_pii.patterns import address, person
from presidio_analyzer import LocalRecognizer, RecognizerResult

from governance.masking import words
from governance.masking.profile import TextProfile
from governance.masking.recognisers.kit import Listed
from governance.masking.recognisers.korean_particles import followed

_HONORIFIC: Final = (
    r"(?:님|씨|군|양)(?![가-힣])|(?:님|씨)(?:은|는|이|가|을|를|의|께|께서|에게|한테|도|과|와|랑|입니다|이세요|이신)|"
    r"(?:고객|회원|환자|선생|기사|팀장|과장|대리|부장|차장|사장|대표|교수|매니저|실장|원장|변호사|간호사|주임)님|"
    r"(?:고객|회원|환자|선생|팀장|과장|대리|부장|차장|교수|매니저|실장|상담사|상담원|기사)(?:님)?(?![가-힣])"
)
_PARTICLE: Final = (
    r"(?:은|는|이|가|을|를|의|와|과|도|랑|이랑|께|께서|께서는|에게|에게서|한테|입니다|이에요|예요|이예요|이요|요|이고|고|"
    r"이며|인데|이라고|라고|이라는|라는|이란|이었습니다|였습니다|이신|이신가요|이십니다|으로|로|앞으로)?(?![가-힣])"
)
_NAME: Final = r"(?P<name>[가-힣]{2,5}?)"
_LABELS: Final = (
    r"성명|성함|이름|예약자명?|주문자명?|구매자명?|수령인|수취인|수령자|받는\s?(?:분|사람|이)|보내는\s?(?:분|사람)|예금주|"
    r"입금자명?|신청인|신청자|고객명|회원명|환자명?|승객명?|탑승객명?|피보험자|계약자|명의자|대표자명?|보호자|동행인"
)
_ROLE_BEFORE: Final = (
    r"담당자|담당|상담원|상담사|기사|매니저|고객|회원|환자|승객|팀장|과장|대리|부장|교수|의사|변호사|직원|동료|친구"
)
_TOLD: Final = (
    re.compile(rf"(?:{_LABELS})\s?(?:은|는|이|가|:|=|-)?\s{{0,2}}{_NAME}\s?(?:{_HONORIFIC}|{_PARTICLE})"),
    re.compile(
        rf"(?:(?<![가-힣])저는|제가|제 이름은|내 이름은|안녕하세요[,.!]?|여기는|전)\s{_NAME}"
        r"(?:입니다|이에요|예요|이예요|이라고|라고|이고|인데|이라는)"
    ),
    re.compile(rf"(?<![가-힣]){_NAME}\s?(?:{_HONORIFIC})"),
    re.compile(rf"(?<![가-힣])(?:{_ROLE_BEFORE})(?:은|는)?\s{_NAME}(?:{_HONORIFIC}|{_PARTICLE})"),
)
_ROLES: Final = frozenset(
    words.listed(
        """
        담당자 관리자 이용자 사용자 구매자 판매자 신청자 주문자 예약자 방문자 소유자 소비자 공급자 참가자 참여자
        수령인 수취인 예금주 보호자 대리인 외국인 한국인 장애인 임산부 공무원 변호사 간호사 상담원 상담사 배달원
        안내원 직장인 유학생 대학생 여행객 신입생 신규회원 정회원 준회원 선생 사장 부모 하나 주인 이모 고모 이사
        원장 조합원 임직원 전문가 전담자 주치의 여러분 본인 노인 성인 지인 연인 남편 동생 선배 후배 오빠 언니
        형제 기사 배송기사 택배기사 정비사 조종사 승무원 기장 주민 국민 시민 지점장 점장 소장 국장 반장 조장
        회장 이장 총장 학장 강사 교사 은행 우체국 전화 문의 주문 예약 배송 환불 교환 반품 결제 정상 정보 안내
        확인 이유 변경 취소 조회 접수 신규 기존 우수 최우수 일반 단골 우리 모든 해당 전체 이번 다음 지난 오늘
        고객명 주문자명 예약자명 예금주명 신청자명 이용자명 구매자명 성명 성함 이름
        내일 어제 지금 최근 현재 주말 평일 강남 강북 서울 부산 대구 인천 광주 대전 울산 제주 전주 성남
        """
    )
)
_ENDINGS: Final = frozenset("팀부과처실국점들등측쪽때것증률력감적님씨에")
_WOMEN: Final = frozenset("영미순경숙정명춘말옥금복길화혜선희애연은")
_SHORT: Final = re.compile(rf"(?:{_LABELS})\s?[:=]\s{{0,2}}{_NAME}(?:\s?님|\s?씨)?(?=\s*(?:$|[\n,./(|·;]))")
"""Two syllables are a name only as the whole value of a label."""
_BEHIND: Final = re.compile(rf"\s?(?:{_HONORIFIC})|{_PARTICLE}")
_CALLED: Final = re.compile(r"\s?(?:님|씨)(?![가-힣]{2})")
_SYLLABLE: Final = re.compile("[가-힣]")


class KoreanNameRecognizer(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Names that their surroundings tell."""

    def __init__(self) -> None:
        """Reported as ``KR_PERSON``: firm, where a model's guess is not."""
        super().__init__(supported_entities=["KR_PERSON"], supported_language="en", name="KoreanNameRecognizer")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002
        """The names as results."""
        return [_result(self, start, end, 0.75) for start, end in sorted({*names(text)})]


class KoreanAddressRecognizer(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Addresses down to the number."""

    def __init__(self) -> None:
        """Reported as ``KR_ADDRESS``."""
        super().__init__(supported_entities=["KR_ADDRESS"], supported_language="en", name="KoreanAddressRecognizer")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002
        """The addresses as results; a district alone identifies nobody."""
        found = (one for one in address.detect(text) if one.extra["format"] in {"road_name", "jibun"})
        spans = ((one.start, one.start + len(text[one.start : one.end].rstrip())) for one in found)
        return [_result(self, start + _lead(text, start), end, 0.75) for start, end in spans]


def names(text: str) -> Iterator[tuple[int, int]]:
    """Where names stand, some of them more than once."""
    told = {match.span("name") for pattern in _TOLD for match in pattern.finditer(text) if is_name(match.group("name"))}
    seen = (one for one in person.detect(text) if is_name(one.text) and _has_label(one.evidence))
    told |= {(one.start, one.end) for one in seen}
    told |= {span for span in followed(text) if is_name(text[slice(*span)])}
    short = {match.span("name") for match in _SHORT.finditer(text) if is_name(match.group("name"), shortest=2)}
    yield from told | short
    for name in sorted({text[start:end] for start, end in told}):
        yield from _again(text, name, _BEHIND)
        yield from _again(text, name[surname_prefix_len(name) :], _CALLED)


def _again(text: str, name: str, behind: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Where a name that was told stands again, with what may follow it."""
    start = text.find(name) if len(name) >= 2 else -1
    while start >= 0:
        end = start + len(name)
        if not _SYLLABLE.match(text[max(0, start - 1) : start]) and behind.match(text, end):
            yield start, end
        start = text.find(name, end)


def is_name(word: str, *, shortest: int = 3) -> bool:
    """Whether a word told by its surroundings can be a name."""
    surname = surname_prefix_len(word)
    if not surname or not 1 <= len(word) - surname <= 2 or len(word) < shortest:
        return False
    if word in _ROLES or is_common_word(word) or word[-1] in _ENDINGS:
        return False
    return not (word.endswith("자") and word[-2] not in _WOMEN)


def _has_label(evidence: Iterable[str]) -> bool:
    """Whether ko-pii saw a label, a title or another identifier beside a name; a particle tells nothing."""
    return any(one.startswith(("pos:field_label", "pos:title", "pos:deterministic")) for one in evidence)


def _lead(text: str, start: int) -> int:
    return len(text[start:]) - len(text[start:].lstrip())


def _result(recogniser: Any, start: int, end: int, score: float) -> RecognizerResult:
    metadata = {
        RecognizerResult.RECOGNIZER_NAME_KEY: recogniser.name,
        RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: recogniser.id,
    }
    return RecognizerResult(recogniser.supported_entities[0], start, end, score, recognition_metadata=metadata)


def _hangul(profile: TextProfile) -> bool:
    return profile.hangul


def _may_address(profile: TextProfile) -> bool:
    return profile.hangul and profile.digits >= 1


def build() -> list[Listed]:
    """Both."""
    return [Listed(KoreanNameRecognizer(), _hangul), Listed(KoreanAddressRecognizer(), _may_address)]
