"""Korean names that only a particle follows (``김민수가``): by their syllables, since nothing else tells them.

Theory. A particle stands behind every noun, so it is no evidence by itself. What a dictionary of 83,000 Korean nouns
has almost none of is a frequent surname, a syllable that given names begin with and one that they end in: 43 of its
nouns of three syllables are so built, and those in use are listed here (``_NOUNS``). Some last syllables make nouns of
nouns too (수, 주, 진): there the two before must be no common word of ko-pii's. Behind a particle that only people and
animals take (에게, 한테, 께서), and before a verb of what people do (``전화했어요``), any
ending of a given name will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ko_pii.dictionaries.common_words import is_common_word

from governance.masking import words

_SURNAMES: Final = frozenset(
    "김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심노하곽성차주우구민류나진지엄채원방천"
)
_FIRST: Final = frozenset(
    "가건경관광규근기길나남다대도동두명문미민범병보상서선성세소수순승시아연영예용우원유윤은인일재정종주준지진찬창채철충태하한해향"
    "현형혜호화효훈희"
)
_LAST: Final = frozenset("빈희영숙훈혁준현민윤연은혜린욱웅섭철환호경란옥순필택솔슬찬진우규아수정주")
"""What given names end in and hardly any noun does."""
_ANY_LAST: Final = _LAST | frozenset("국근기나남덕동라람림미배범복서석선성식안열엽완용운원일임재중지태하한향형홍후휘")
_SUFFIXES: Final = frozenset("수주진정아민호우")
"""Of these, what makes nouns of nouns."""
_NOUNS: Final = frozenset(
    words.listed(
        """
        원주민 노하우 하소연 구세주 고용주 장기수 이재민 우수수 손재주 노인정 이주민 배수진 방문진 임원진 진동수 지진아
        정원수 구미호 우선주 구명정 지남철 정한수 백화주 전향수 정상아 임진란 구순주 주문수 방문수 주문진 전기수
        지도원 주재원 방범원 유인원
        """
    )
)
_ALIVE: Final = r"(?:에게서|에게|한테서|한테|께서는|께서|께)"
_ANY: Final = (
    r"(?:이|가|은|는|을|를|의|와|과|도|랑|이랑|하고|만|입니다|이에요|예요|이예요|인데요|이라고|라고|이고|이며)"
)
_DOES: Final = (
    r"(?:이|가|은|는)(?=\s(?:[가-힣]{1,6}\s)?(?:말했|말하|말씀|전화했|전화하|주문했|예약했|요청했|문의했|신청했|결제했|"
    r"구매했|보냈|부탁))"
)
_BUILT: Final = re.compile(rf"(?<![가-힣])(?P<name>[가-힣]{{3}})(?:(?P<alive>{_ALIVE}|{_DOES})|{_ANY})(?![가-힣])")


def followed(text: str) -> Iterator[tuple[int, int]]:
    """Where such names stand."""
    for match in _BUILT.finditer(text):
        if is_built(match.group("name"), alive=match.group("alive") is not None):
            yield match.span("name")


def is_built(word: str, *, alive: bool) -> bool:
    """Whether three syllables are built as a whole name is and as no noun."""
    surname, first, last = tuple(word)
    if surname not in _SURNAMES or first not in _FIRST or last not in (_ANY_LAST if alive else _LAST):
        return False
    return word not in _NOUNS and not is_common_word(word) and not (last in _SUFFIXES and is_common_word(word[:2]))
