"""Statements of special categories in Korean: a term, and an ending that states it of somebody.

A person may be named before the term (``저는``, ``아내가``, ``고객님은``); without one the speaker is meant, and only
a finite ending states anything: ``우울증 진단을 받았습니다`` does, ``우울증 진단을 받은 고객`` does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from governance.masking.words import listed


def _any(block: str) -> str:
    return "(?:" + "|".join(sorted(listed(block), key=lambda one: (-len(one), one))) + ")"


_PERSON: Final = (
    r"(?:(?<![가-힣])(?:저|제|나|내|우리|아내|남편|와이프|엄마|어머니|아버지|아빠|아들|딸|친구|동생|누나|형|언니|오빠|"
    r"할머니|할아버지|부모님|"
    r"아이|가족|그녀|환자분?|고객님|시어머니|장모님|여자친구|남자친구)|[가-힣]{2,4}\s?(?:씨|님))"
)
_SOMEBODY: Final = rf"(?:{_PERSON}[가-힣]{{0,3}}\s+(?:[가-힣0-9]{{1,8}}\s+){{0,3}})?"
_IS: Final = _any("""
    입니다 이에요 예요 이예요 이라서 라서 이라 여서 이어서 인데 이고 이며 이세요 이십니다 였습니다 이었습니다 이야
""")
_ILLNESS: Final = _any(
    """
    우울증 당뇨병 당뇨 고혈압 유방암 폐암 위암 간암 대장암 췌장암 전립선암 갑상선암 자궁암 혈액암 백혈병 림프종
    뇌종양 천식 간질 뇌전증 공황장애 조현병 조울증 양극성장애 치매 파킨슨병 알츠하이머 에이즈 간염 결핵 코로나
    코로나19 폐렴 심장병 심부전 심근경색 뇌졸중 뇌출혈 협심증 부정맥 신부전 크론병 루푸스 관절염 류마티스 자폐
    자폐증 불안장애 외상후스트레스장애 거식증 불면증 섬유근육통 아토피 자궁내막증 난임 시각장애 청각장애 지체장애
    발달장애 HIV ADHD PTSD 땅콩알레르기 허리디스크 녹내장 백내장
    """
)
_CANCER: Final = r"(?<![가-힣])암"
_RULES: Final[tuple[tuple[str, str], ...]] = (
    (
        "HEALTH",
        rf"""
        {_SOMEBODY}(?:(?:{_ILLNESS}|매독|임질)\s*(?:검사(?:에서|\s*결과)?\s*)?양성(?:\s*(?:판정|반응))?(?:입|이(?:에|라|고|며)|
        을\s*받았|이\s*나왔|나왔)|{_ILLNESS}\s*약(?:물)?[을도]?\s*(?:먹고\s*(?:있|계)|먹어|먹습|복용|드시고\s*(?:있|계)|
        처방))
        """,
    ),
    (
        "HEALTH",
        rf"""
        (?:{_ILLNESS}|{_CANCER})(?:으로|로|을|를|이라는|라는|이|가|에)?\s*(?:\d기\s*)?(?:진단(?:을|
        이)?\s*(?:받았|받아서|받고|나왔|됐)|판정(?:을)?\s*받(?:았|아서|고)|확진(?:을)?\s*(?:받았|됐|되었|
        판정)|앓고\s*(?:있|계)|앓았|걸렸|걸려서|투병\s*(?:중|하고)|치료(?:를)?\s*(?:받고\s*(?:있|계)|받았|
        중(?:입|이|인))|수술(?:을)?\s*(?:받았|했|받고)|(?:때문에|으로|로)\s*입원(?:했|하|중))
        """,
    ),
    (
        "HEALTH",
        rf"""
        {_PERSON}[가-힣]{{0,3}}\s+(?:[가-힣0-9]{{1,8}}\s+){{0,3}}{_ILLNESS}(?:이|가|도)?\s*(?:있(?:어요|
        습니다|어서|는데|으세요|으십니다|거든요)|심해)
        """,
    ),
    (
        "HEALTH",
        rf"""
        {_SOMEBODY}임신\s*(?:\d{{1,2}}\s*(?:주|개월)\s*(?:차)?\s*(?:입|이|인|예|라)|중(?:입|이|인데|이라|
        이에)|했(?:어요|습니다)|부(?:입|예|인데|라서))
        """,
    ),
    (
        "HEALTH",
        rf"""
        {_SOMEBODY}(?:휠체어를\s*(?:사용|이용|타)(?:합|해|하고|고)|장애\s*\d급{_IS}|장애인{_IS}|
        항암\s*치료(?:를)?\s*(?:받|중)|정신과(?:에|를|\s*치료를)?\s*(?:다니|다녀|받고)|인슐린을?\s*맞|
        투석(?:을)?\s*(?:받|하고)|유산(?:을)?\s*(?:했|하였)|[가-힣]{{1,6}}\s?알레르기가?\s*(?:있(?:어요|
        습니다|어서|는데)|심해))
        """,
    ),
    (
        "BELIEF",
        rf"""
        {_SOMEBODY}(?:(?:독실한\s*)?(?:기독교인|기독교\s*신자|개신교\s*신자|개신교인|천주교\s*신자|
        가톨릭\s*신자|카톨릭\s*신자|불교\s*신자|불교도|이슬람교도|이슬람\s*신자|무슬림|크리스천|
        유대교\s*신자|유대교인|힌두교도|힌두교\s*신자|여호와의\s*증인|무신론자|원불교\s*신자){_IS})
        """,
    ),
    (
        "BELIEF",
        rf"""
        {_SOMEBODY}(?:교회|성당|절|모스크)에?\s*(?:다닙니다|다녀요|다니고\s*있|다니는데)|
        {_SOMEBODY}이슬람(?:교)?로\s*개종했|종교는\s*[가-힣]{{2,5}}{_IS}
        """,
    ),
    (
        "POLITICAL_OPINION",
        rf"""
        {_SOMEBODY}(?:더불어민주당|민주당|국민의힘|정의당|진보당|개혁신당|조국혁신당|녹색당)(?:을|를|에|
        에게|의)?\s*(?:지지(?:합|해|하고|했)|투표(?:했|합|하고)|뽑았|찍었|당원{_IS}|입당했)|
        {_SOMEBODY}정치적으로\s*(?:보수|진보)|{_SOMEBODY}(?:보수|진보)\s*(?:성향|주의자){_IS}
        """,
    ),
    (
        "ETHNICITY",
        rf"""
        {_SOMEBODY}(?:조선족|고려인|혼혈|혼혈인|흑인|백인|탈북민|새터민|화교|유대인|집시|쿠르드족|아랍인|
        다문화\s*가정\s*(?:출신|자녀)){_IS}
        """,
    ),
    (
        "SEX_LIFE",
        rf"""
        {_SOMEBODY}(?:게이|레즈비언|동성애자|양성애자|트랜스젠더|성소수자|무성애자|바이섹슈얼|퀴어|
        논바이너리)(?:{_IS}|로\s*커밍아웃)|{_PERSON}[가-힣]{{0,2}}\s*성(?:적\s*)?지향|성관계를\s*(?:했|가졌)
        """,
    ),
    (
        "TRADE_UNION",
        rf"""
        {_SOMEBODY}(?:노조|노동조합|민주노총|한국노총|전교조|금속노조)(?:에|의)?\s*(?:가입(?:했|하였|
        되어\s*있|돼\s*있)|조합원{_IS}|위원장{_IS}|간부{_IS}|소속{_IS}|활동(?:을)?\s*(?:하고|했|합))
        """,
    ),
    (
        "GENETIC",
        rf"""
        {_PERSON}[가-힣]{{0,3}}\s+(?:[가-힣0-9]{{1,8}}\s+){{0,2}}(?:유전자\s*(?:검사\s*결과|변이|돌연변이|
        정보)|DNA\s*(?:검사|정보)|유전\s*질환|BRCA\d?\s*(?:변이|유전자))
        """,
    ),
    (
        "BIOMETRIC",
        r"""
        (?<![가-힣])(?:제|내|저의|나의|아내의|남편의|고객님의)\s*(?:지문|홍채|안면|얼굴\s*인식|성문|생체|
        정맥)\s*(?:정보|데이터|템플릿)?[을를이가은는]?\s*(?:등록|저장|제출|스캔|수집|인식)
        """,
    ),
    (
        "CRIMINAL_RECORD",
        rf"""
        {_SOMEBODY}(?:전과(?:가|\s*기록이)?\s*(?:있(?:습|어|는데)|\d+범)|(?:구속|체포|기소|수감|
        입건)\s*(?:되었|됐|된\s*적이\s*있(?:습|어)|당했)|(?:실형|징역|집행유예|벌금형|
        유죄\s*판결)[을를]?\s*(?:\d+년\s*)?(?:[을를]\s*)?(?:받았|선고받았|살았|받은\s*적이\s*있(?:습|어))|
        (?:음주운전|폭행|절도|사기|마약)(?:으로|로)\s*(?:처벌|벌금|입건|체포|기소|
        구속)[가-힣]{{0,4}}\s?(?:받았|됐|되었|냈|당했|물었))
        """,
    ),
)
_COMPILED: Final = tuple((category, re.compile(pattern, re.VERBOSE)) for category, pattern in _RULES)
_STEMS: Final = re.compile(
    rf"{_ILLNESS}|{_CANCER}|임신|휠체어|장애|항암|정신과|인슐린|투석|유산|알레르기|교|무슬림|크리스천|신자|증인|무신론|성당|절|모스크|이슬람|당|국민의힘|"
    r"정치|보수|진보|조선족|고려인|혼혈|흑인|백인|탈북|새터민|화교|유대|집시|쿠르드|아랍|다문화|게이|레즈비언|동성애|양성애|트랜스젠더|성소수|무성애|"
    r"바이섹슈얼|퀴어|논바이너리|성|노조|노동조합|노총|유전|DNA|BRCA|지문|홍채|안면|얼굴|생체|정맥|전과|구속|체포|기소|수감|입건|실형|징역|집행유예|벌금|"
    r"유죄|음주운전|폭행|절도|사기|마약"
)
_SENTENCE: Final = re.compile(r"[^.!?\n。]{3,400}+[.!?。]?")
_ASKS: Final = re.compile(r"(?:나요|까요|는지|은지|을까|ㄹ까)\s*[?.]?$|(?:만약|혹시|경우)")


def may_state(text: str) -> bool:
    """Whether a statement can stand in the text."""
    return _STEMS.search(text) is not None


def statements(text: str) -> Iterator[tuple[str, int, int]]:
    """Each statement: its category and where it stands."""
    if not may_state(text):
        return
    for sentence in _SENTENCE.finditer(text):
        if not may_state(sentence.group()):
            continue
        for category, pattern in _COMPILED:
            match = pattern.search(sentence.group())
            if match and not _ASKS.search(sentence.group()[: match.end()]):
                yield category, sentence.start() + match.start(), sentence.start() + match.end()
