# ruff: noqa: RUF001 - full-width digits and signs are what people write
"""Korean: numbers in the spellings that people write, names by their surroundings, and chat that names nobody."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stdnum.kr import rrn

from governance.keys import DerivedKeyProvider
from governance.masking.detection import Detector, TextKind
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.recognisers.korean_people import is_name, names
from governance.masking.spans import THRESHOLD
from governance.records.masking_policy import DETECTED_ONLY

DETECTOR = Detector()
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def found(text: str, kind: TextKind = TextKind.TEXT) -> set[tuple[str, str]]:
    [hits] = DETECTOR.find([(text, kind)])
    return {(hit.entity_type, text[hit.start : hit.end]) for hit in hits if hit.entity_type not in DETECTED_ONLY}


def resident(day: date, serial: int) -> str:
    """A number of somebody born that day whose check digit is right."""
    body = f"{day:%y%m%d}{1 if day.year < 2000 else 3}{serial:05d}"
    return body + rrn.calc_check_digit(body)


BIRTHS = st.dates(date(1950, 1, 1), date(2019, 12, 31))
SERIALS = st.integers(0, 95_000)


@FEW
@given(BIRTHS, SERIALS, st.integers(0, 9))
def test_a_resident_number_with_a_word_needs_no_checksum(day: date, serial: int, last: int) -> None:
    number = resident(day, serial)[:-1] + str(last)
    for written in (number, f"{number[:6]}-{number[6:]}", f"{number[:6]} - {number[6:]}", f"{number[:6]} {number[6:]}"):
        assert ("KR_RRN", written) in found(f"제 주민번호는 {written}입니다")
        assert ("KR_RRN", written) in found(f"주민등록번호:{written}")


@FEW
@given(BIRTHS, SERIALS)
def test_a_resident_number_without_a_word_is_told_by_hyphen_and_checksum(day: date, serial: int) -> None:
    number = resident(day, serial)
    hyphenated = f"{number[:6]}-{number[6:]}"
    assert ("KR_RRN", hyphenated) in found(f"see {hyphenated} there")
    assert not {entity for entity, _ in found(f"at {number} ms")} & {"KR_RRN", "KR_FRN", "KR_CRN"}
    wrong = f"{hyphenated[:-1]}{(int(hyphenated[-1]) + 1) % 10}"
    assert ("KR_RRN", wrong) not in found(f"part {wrong} of the set")
    assert ("KR_RRN", wrong) not in found(f"주문번호 {wrong} 확인해 주세요")
    assert ("KR_RRN", wrong) in found(f"{wrong} 확인해 주세요")


NUMBERS = [
    ("주민등록번호 ９００１０１－１２３４５６８ 확인", "KR_RRN", "９００１０１－１２３４５６８"),
    ("외국인등록번호는 911124-5678901이에요", "KR_FRN", "911124-5678901"),
    ("운전면허번호 11-12-345678-90 입니다", "KR_DRIVER_LICENSE", "11-12-345678-90"),
    ("여권번호는 M12345678이고", "KR_PASSPORT", "M12345678"),
    ("여권번호: M123A4567", "KR_PASSPORT", "M123A4567"),
    ("사업자등록번호 104-86-56659로 발행", "KR_BRN", "104-86-56659"),
    ("법인등록번호는 130111-0006246입니다", "KR_CRN", "130111-0006246"),
    ("신한은행 110-123-456789로 환불해 주세요", "KR_BANK_ACCOUNT", "110-123-456789"),
    ("계좌번호는 3333-12-1234567", "KR_BANK_ACCOUNT", "3333-12-1234567"),
    ("카카오뱅크 3333121234567 예금주 김철수", "KR_BANK_ACCOUNT", "3333121234567"),
    ("110-123-456789 농협", "KR_BANK_ACCOUNT", "110-123-456789"),
    ("차량번호 12가 3456", "KR_LICENSE_PLATE", "12가 3456"),
    ("010-1234-5678로 전화 주세요", "PHONE_NUMBER", "010-1234-5678"),
    ("연락처는 01012345678입니다", "PHONE_NUMBER", "01012345678"),
    ("사무실 02-312-3456", "PHONE_NUMBER", "02-312-3456"),
    ("전화 031.123.4567", "PHONE_NUMBER", "031.123.4567"),
    ("070-1234-5678", "PHONE_NUMBER", "070-1234-5678"),
    ("휴대폰 ０１０－１２３４－５６７８", "PHONE_NUMBER", "０１０－１２３４－５６７８"),
    ("+82 10-1234-5678", "PHONE_NUMBER", "+82 10-1234-5678"),
    ("배송지는 서울특별시 강남구 테헤란로 152 12층입니다", "LOCATION", "서울특별시 강남구 테헤란로 152 12층"),
    ("주소: 경기도 성남시 분당구 판교역로 235", "LOCATION", "경기도 성남시 분당구 판교역로 235"),
    ("해운대구 우동 1408-3에 삽니다", "LOCATION", "해운대구 우동 1408-3"),
]


@pytest.mark.parametrize(("text", "entity", "value"), NUMBERS)
def test_numbers_and_addresses_are_found_as_they_are_written(text: str, entity: str, value: str) -> None:
    assert (entity, value) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "고객센터 1588-1234로 문의해 주세요", "대표번호는 1899-5678입니다", "전화 1544-0000",
        "주문번호 20240520-1234567", "계좌 3개",
        "송장번호 123456789012 조회", "운송장 110-123-456789", "총 1234567890원", "2024-05-20 배송",
        "10가 1234원", "관리번호 104-86-56658", "여권 발급까지 12345분", "M12345678", "11-12-345678-90",
    ],
)  # fmt: skip
def test_service_numbers_references_and_amounts_stay(text: str) -> None:
    assert not found(text)


def test_a_shape_alone_is_a_candidate() -> None:
    [hit] = [hit for hit in DETECTOR.candidates("M123A4567") if hit.entity_type == "KR_PASSPORT"]
    assert hit.score < THRESHOLD


NAMES = [
    ("안녕하세요 김민수입니다. 확인 부탁드려요.", "김민수"), ("담당자 박지영님께 전달해주세요", "박지영"),
    ("이서준 고객님, 환불이 완료되었습니다.", "이서준"), ("제 이름은 최수빈이고 처음 왔어요", "최수빈"),
    ("예약자명: 정하윤", "정하윤"), ("홍길동 씨가 전화했어요", "홍길동"), ("받는 사람 강도현, 서울", "강도현"),
    ("남궁민수 과장님이 확인하셨습니다", "남궁민수"), ("환자 윤서연의 진료 기록", "윤서연"),
    ("저는 이지은이라고 합니다", "이지은"), ("상담원 조은비입니다", "조은비"), ("예금주 김철수", "김철수"),
    ("입금자명 윤지후로 입금했습니다", "윤지후"), ("성함: 김철", "김철"), ("선우은지 고객님", "선우은지"),
    ("최예린씨 바꿔주세요", "최예린"), ("수취인 노은서 (문 앞)", "노은서"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name"), NAMES)
def test_names_are_told_by_their_surroundings_and_particles_stay(text: str, name: str) -> None:
    assert ("PERSON", name) in found(text)
    masked = PresidioMasker(DerivedKeyProvider("korean"), detector=DETECTOR).mask("t", [text])[0].value
    assert name not in masked
    assert masked.endswith(text[text.index(name) + len(name) :])


def test_a_name_that_was_told_once_is_told_everywhere() -> None:
    text = "민서준 기사님이 오셨어요. 민서준이 두고 간 것 같아요. 서준님이 친절했어요."
    assert sorted(text[start:end] for start, end in set(names(text))) == ["민서준", "민서준", "서준"]


@pytest.mark.parametrize("kind", sorted(set(TextKind) - {TextKind.NAME}))  # the name of a field is a value as a whole
def test_names_are_told_in_any_field(kind: TextKind) -> None:
    assert ("PERSON", "김민수") in found("김민수 고객님", kind)


@given(st.text("김이박최정강조윤장임남궁선우민수지은하영서준가나다님씨은는이가입니다 :\n저는성함고객", max_size=24))
def test_what_is_told_is_a_surname_and_a_given_name(text: str) -> None:
    assert all(is_name(text[start:end], shortest=2) for start, end in names(text))


CHAT = """
배송이 언제 도착하나요?|주문을 취소하고 싶습니다.|환불은 영업일 기준 3일 정도 소요됩니다.
고객님, 무엇을 도와드릴까요?|이번 주 안에 받을 수 있을까요?|상품이 파손되어 도착했습니다.
교환 신청은 어떻게 하나요?|결제 수단을 변경하고 싶어요.|안녕하세요, 문의드릴 게 있습니다.|주소를 변경해 주세요.
로그인이 안 돼요.|비밀번호를 잊어버렸습니다.|정말 감사합니다!|신용카드로 결제했는데 영수증이 필요해요.
할인 쿠폰이 적용되지 않습니다.|담당자와 통화하고 싶습니다.|담당자님 확인 부탁드립니다.
고객센터 운영 시간이 어떻게 되나요?|회원 탈퇴 방법을 알려주세요.|포인트는 어떻게 사용하나요?
제주도도 배송 가능한가요?|전화번호를 남겨주시면 연락드리겠습니다.|서울에서 부산까지 얼마나 걸리나요?
강력한 세탁기를 찾고 있어요.|장바구니가 비었습니다.|안녕하세요 문의입니다.|저는 외국인입니다.
저는 이용자입니다.|구매자님 확인 바랍니다|선생님 감사합니다|기사님이 문 앞에 두고 가셨어요|사장님 계신가요?
이 상품 정말 좋아요|제가 주문한 상품이 안 왔어요|담당자 연결 부탁드립니다|상담원 연결해 주세요
고객 정보를 수정하고 싶어요|이름을 변경하고 싶어요|이름은 나중에 알려드릴게요|성함과 연락처를 남겨주세요
예약자 변경이 가능한가요?|받는 사람 주소를 바꾸고 싶어요|예금주 정보가 달라요|환자 이송 서비스|친구 추천 이벤트
교수님 강의 자료|최우수 고객님께 드리는 혜택|신규 고객님께 쿠폰을|모든 고객님께|서울 고객님|부모님 선물로
여러분 감사합니다|저는 괜찮습니다|저는 이미 결제했습니다|제가 전화드릴게요|여기는 강남점입니다|우리 고객님들
어떤 고객님|단체 고객님|이분 고객님|구매 고객님|네 알겠습니다. 감사합니다.|이 부분이 조금 이해가 안 됩니다.
회원가입 시 이메일 인증이 안 돼요.|경비실에 맡겨 주세요.|선물용이라 가격표를 빼 주세요.|배터리가 금방 닳아요.
설치 기사님은 언제 방문하시나요?|카드사에서 승인이 거절됐습니다.|영업시간은 오전 9시부터 오후 6시까지입니다.
비행기 좌석을 창가로 바꾸고 싶어요.|여권 만료일이 6개월 이상 남아야 합니다.|매니저님과 통화할 수 있을까요?
팀장님께 보고드렸습니다.|사용 설명서를 다시 보내 주세요.|인증번호가 오지 않아요.
서비스 이용에 불편을 드려 죄송합니다.|저는 이번에 처음 구매했습니다.|제가 이사를 가서 주소가 바뀌었어요.
구성품이 빠져 있어요.|명의자 본인만 신청할 수 있습니다.|상담원과 연결 중입니다.|승객 여러분께 안내 말씀드립니다.
노트북이 켜지지 않습니다.|주문자와 수령인이 달라도 되나요?|변호사 상담을 받고 싶어요.|3번 출구로 나오세요
15층 회의실|2호선 강남역에서 만나요|주문번호 SO-1234 확인 부탁드립니다.|5월 20일 오후 3시로 예약해 주세요.
금액은 45,000원입니다.|버전 2.1.0에서 오류가 나요.|유통기한이 얼마나 남았나요?|소음이 너무 심합니다.
방문 예정 시간을 알려 주세요.|무이자 할부가 가능한가요?|주차 가능한가요?|아이와 함께 갈 수 있나요?
조식이 포함되어 있나요?|수하물 추가 요금이 얼마인가요?|한국어 상담이 가능한가요?|정품 인증은 어떻게 하나요?
계정이 잠겼습니다.|최소 주문 금액이 얼마인가요?|장기 고객님께는 추가 할인이 있습니다.
이름 순서가 바뀌어 표기되었습니다.|성함을 말씀해 주시겠어요?|받는 분 연락처가 필요합니다.
환자 보호자 동의가 필요합니다.|담당 기사가 배정되었습니다.|동료 추천으로 알게 되었어요.|대리 수령이 가능한가요?
부장님 결재가 필요합니다.|신청인 정보가 일치하지 않습니다.|손님이 많아서 오래 기다렸어요.
민원 접수는 어디서 하나요?|유감입니다만 반품 기간이 지났습니다.|민수기 부품은 취급하지 않습니다.
우리 회사 주소로 보내주세요.
""".replace("\n", "|").split("|")


def test_ordinary_chat_names_nobody() -> None:
    sentences = [text for text in CHAT if text]
    assert len(sentences) > 100
    hits = DETECTOR.find([(text, TextKind.TEXT) for text in sentences])
    assert {text: one for text, one in zip(sentences, hits, strict=True) if one} == {}


@pytest.mark.parametrize("name", ["김민수", "이서준", "박지영", "최수빈", "정하윤", "윤서연"])
def test_a_name_is_told_by_its_syllables_where_a_particle_follows(name: str) -> None:
    for behind in ("가", "이", "는", "은", "를", "의", "와", "한테", "에게", "께서", "님", "씨", "님께서는"):
        text = f"어제 {name}{behind} 왔다"
        assert {text[start:end] for start, end in names(text)} == {name}


NOUNS = [
    "정비소", "강아지", "고양이", "조회수", "주문수", "지원율", "이메일", "전화기", "원주민",
    "고용주", "임대인", "이자율", "정수기", "배송지", "주소지", "신용장", "안내문", "하소연",
    "노하우", "서비스", "이용자", "구매자", "정원수", "이재민", "우주선",
]  # fmt: skip


@pytest.mark.parametrize("noun", NOUNS)
def test_ordinary_nouns_stay_before_a_particle(noun: str) -> None:
    for particle in ("가", "이", "는", "을", "의", "입니다"):
        assert not {*names(f"어제 {noun}{particle} 왔다")}


@pytest.mark.parametrize(
    "noun", ["강아지", "고양이", "원주민", "고용주", "임대인", "유대인", "이용자", "구매자", "이재민", "판매자"]
)
def test_nouns_of_people_stay_before_their_particle(noun: str) -> None:
    assert not {*names(f"어제 {noun}에게 {noun}한테 왔다")}


BIRTHDAYS = ["생년월일: {}", "생년월일은 {}입니다", "{}생", "{} 출생", "제 생일은 {}이에요"]
WRITINGS = ["%y%m%d", "%Y%m%d", "%y.%m.%d", "%Y. %m. %d", "%Y-%m-%d", "%Y년 %m월 %d일", "%y년 %m월 %d일"]


@FEW
@given(BIRTHS, st.sampled_from(BIRTHDAYS), st.sampled_from(WRITINGS))
def test_a_date_of_birth_is_found_in_a_sentence(day: date, text: str, writing: str) -> None:
    written = f"{day:{writing}}"
    assert ("DATE_OF_BIRTH", written) in found(text.format(written))


@pytest.mark.parametrize(
    "text",
    [
        "2024년 4월 5일 생산",
        "2024.04.05 생방송",
        "주문번호 900405 확인",
        "2024년 5월 20일에 배송",
        "생일 쿠폰 2024-05-20 만료",
    ],
)
def test_other_dates_of_a_korean_sentence_stay(text: str) -> None:
    assert not found(text)
