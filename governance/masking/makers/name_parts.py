# ruff: noqa: RUF001 - letters of other scripts are what this file is for
"""Syllables of made-up names, by script.

The pieces combine to names that nobody is known to bear. No script's list holds a whole name: Korean family syllables
are none of the 286 registered family names, and the Han characters are none of the hundred most common ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from governance.masking.words import FAMILY_ENDS, FAMILY_STARTS, GIVEN_ENDS, GIVEN_MIDDLES, GIVEN_STARTS, listed


@dataclass(frozen=True)
class Syllables:
    """What names of one kind are made of: a start, one to two middles (none where there are none), an end."""

    starts: tuple[str, ...]
    middles: tuple[str, ...]
    ends: tuple[str, ...]
    most_middles: int = 1

    @cached_property
    def pattern(self) -> str:
        """A regular expression of all names of the kind."""
        middle = f"(?:{_any(self.middles)}){{1,{self.most_middles}}}" if self.middles else ""
        return f"(?:{_any(self.starts)}){middle}(?:{_any(self.ends)})"


def _any(pieces: tuple[str, ...]) -> str:
    return "|".join(re.escape(piece) for piece in sorted(set(pieces), key=lambda piece: (-len(piece), piece)))


_FAMILY_MIDDLES: Final = listed(
    """
    a ar be bel da del den der dro e el en er fen ga go han i il in jo ka ker ko la len lo ma mer mo na nel no
    or ra ren ro sel so ta ter to va ver vi wen wo ya zel
    """
)
GIVEN: Final = Syllables(GIVEN_STARTS, GIVEN_MIDDLES, GIVEN_ENDS, most_middles=2)
FAMILY: Final = Syllables(FAMILY_STARTS, _FAMILY_MIDDLES, FAMILY_ENDS)
KOREAN_FAMILY: Final = tuple("늘들람랑릴물밀별볕숲슬얀울윌잎잔줄칠콜톨펠푼핀할흘힐")
KOREAN_FAMILIES: Final = (
    "김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심노하곽성차주우구민류나진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕"
    "라금옥육인맹제모"
)
"""Syllables that family names begin with, the frequent ones first (census of 2015): the others are rare."""
KOREAN_GIVEN: Final = tuple(
    "가결고곤궁길나난남내노누늬늘다단담도돈돌두든들라람랑래려령로록론루른름리린릿마만말매머먼모목몬무문물미민바반방배버번"
    "보봄볼부비빈빛사산살새샘서선설섬세소솔송수숲슬시신심아안애어언여연예오온올용우운울유은이인일자잔정조주준지진차찬채초"
)
HAN: Final = tuple(
    "霖澄嵐霄渺泠沐汐汀洛渚湄溪澗瀾岑岫峰崗巒巖林枝桐梓楓榆槐檀杉竹筠苓芷蘅蕙菁蓀藍墨硯翰箋簡紗絹綺縵緋茜黛"
)
SCRIPTS: Final[dict[str, Syllables]] = {
    "CYRILLIC": Syllables(listed("бел вар гор дун жел зар кел лар мор нор пел рос сел тар ул фен хол яр"),
                          listed("а е и о у ба ве да ла ме ни ра со та"), listed("дан лен мир нор рин сен тан вин")),
    "GREEK": Syllables(listed("αλ βελ γορ δαλ ελ ζαν θορ καλ λορ μελ νορ παλ ροσ σελ τορ φαλ"),
                       listed("α ε ι ο βα δε λα μι νο ρα σε"), listed("δαν λεν μιρ νορ ριν σεν ταν")),
    "ARABIC": Syllables(listed("بل ور جر دل زن كل لر مل نر سل تر فن"), listed("ا و ي با دا لا مي نو را"),
                        listed("دن لن مر نر رن سن تن")),
    "HEBREW": Syllables(listed("בל ור גר דל זן קל לר מל נר סל תר פן"), listed("א ו י בא דא לא מי נו רא"),
                        listed("דנ לנ מר נר רנ סנ תנ")),
    "DEVANAGARI": Syllables(listed("बेल वर गोर दल जेल कल लोर मेल नोर पल सेल तोर"), listed("बा दा ला मि नो रा से"),
                            listed("दन लेन मिर नोर रिन सेन")),
    "HIRAGANA": Syllables(listed("あれ いむ うの えな おる かぬ くる せぬ つむ ねる ほの むり"),
                          listed("か さ た な ま ら"), listed("ぬ む る の ほ れ")),
    "KATAKANA": Syllables(listed("アレ イム ウノ エナ オル カヌ クル セヌ ツム ネル ホノ ムリ"),
                          listed("カ サ タ ナ マ ラ"), listed("ヌ ム ル ノ ホ レ")),
    "THAI": Syllables(listed("เบล วาร กอร ดาล เซน กาล ลอร เมล นอร ปาล"), listed("บา ดา ลา มิ โน รา"),
                      listed("ดาน เลน มีร นอร ริน เซน")),
}  # fmt: skip
