"""Constructed sentences with and without a statement of a special category, by category.

The sentences stand in two halves by their place: those at even places were looked at while the rules were written, and
those at odd places were not: they have one author with the rules, so they test wording, not the choice of topics.
"""

from __future__ import annotations

STATED: dict[str, str] = {
    "HEALTH": """
I was diagnosed with diabetes last spring and need to move my flight.
My wife has breast cancer and cannot fly.
He is HIV positive, please keep that confidential.
I am seven months pregnant. Actually, I'm pregnant with twins.
The passenger has epilepsy and carries medication.
My son is autistic and needs a quiet seat.
I have been hospitalized since Monday.
My mother suffers from dementia and gets lost.
She had a miscarriage two weeks ago.
I'm on dialysis three times a week.
Our daughter has a severe peanut allergy.
Because of my chemotherapy I had to cancel.
I take antidepressants, can I bring them on board?
My father had a stroke yesterday.
I tested positive for covid this morning.
His depression is getting worse.
I am deaf, so please write instead of calling.
My husband's disability means he needs an aisle seat.
The patient developed pneumonia after surgery.
I've got type 2 diabetes, is there a suitable meal?
저는 우울증 진단을 받았습니다.
아내가 유방암 수술을 받아서 환불하고 싶어요. 아내가 유방암 치료를 받고 있습니다.
제가 당뇨가 있어서 식사를 바꾸고 싶습니다.
지금 임신 20주입니다.
어머니가 치매를 앓고 계십니다.
코로나 확진을 받았어요.
""",
    "BELIEF": """
I am Muslim, please no pork.
My husband is Jewish, so we need a kosher meal.
I am a practicing Catholic and do not travel on Sundays.
We keep kosher at home.
She converted to Islam last year.
I am an atheist, so please skip the blessing.
My religion forbids alcohol.
I go to church every Sunday.
He is a Jehovah's Witness.
I cannot work on Saturday for religious reasons.
저는 무슬림이라서 돼지고기를 못 먹습니다.
저는 기독교 신자입니다.
저는 매주 교회에 다닙니다.
남편은 불교 신자예요.
""",
    "POLITICAL_OPINION": """
I voted for the Labour Party in May.
I am a republican and proud of it.
My boss is a communist.
She joined the Green Party last month.
My political views are my own business.
He is a member of the Communist Party.
I always vote democrat.
My brother is a socialist.
저는 민주당을 지지합니다.
저는 국민의힘 당원입니다.
저는 정치적으로 진보입니다.
친구는 정의당에 투표했어요.
""",
    "ETHNICITY": """
I am black and was treated badly at the gate.
My wife is Latina.
He is of Turkish descent.
We are Roma and nobody wants to rent to us.
I'm half Asian.
She is ethnically Chinese.
My ethnicity is nobody's business.
My partner is African American.
저는 조선족입니다.
남편은 혼혈이에요.
저는 탈북민이라서 서류가 없습니다.
아내는 고려인입니다.
""",
    "SEX_LIFE": """
I am gay, is the hotel safe for us?
My daughter is a lesbian.
We are a gay couple travelling to Dubai.
He came out as bisexual.
My sexual orientation is not a secret.
I'm transgender and my passport shows another name.
My son identifies as nonbinary.
I had unprotected sex last night.
저는 게이입니다.
제 친구는 레즈비언이에요.
저는 트랜스젠더인데 여권 이름이 다릅니다.
동생은 양성애자입니다.
""",
    "TRADE_UNION": """
I am a member of the union and on strike.
She joined the teachers' union in March.
My husband is a shop steward.
I belong to a trade union.
He pays union dues every month.
I'm a union rep at the plant.
My union membership is listed on the payslip.
Our manager left the union.
저는 노조에 가입했습니다.
저는 민주노총 조합원입니다.
남편은 노조 위원장입니다.
저는 전교조 소속입니다.
""",
    "GENETIC": """
I carry the BRCA1 mutation.
My DNA test shows a hereditary disease.
My sister has the BRCA2 gene.
She has a genetic disorder.
My genetic test results are attached.
He inherited a gene mutation from his father.
My wife is a carrier of sickle cell trait. She has sickle cell trait.
제 유전자 검사 결과를 첨부합니다.
아들은 BRCA 변이가 있습니다.
저의 DNA 검사 결과입니다. 제가 DNA 검사 결과를 보냈습니다.
""",
    "BIOMETRIC": """
My fingerprints are stored in your system.
My iris scan was rejected at the gate.
I enrolled my face scan in the app. I enrolled my voiceprint.
Her fingerprint is on file.
His facial template was deleted.
You took my fingerprints at the counter. I gave my fingerprints there.
제 지문을 등록했습니다.
제 홍채 정보를 저장했나요?
제 얼굴 인식 데이터를 삭제해 주세요. 제 생체 정보를 수집했잖아요.
""",
    "CRIMINAL_RECORD": """
I was convicted of fraud in 2015.
My brother is in prison.
He has a criminal record.
I am on probation and may not leave the state.
My husband was arrested at the airport.
She served time for theft.
I have a felony conviction, can I get a visa?
My parole officer says I cannot travel.
저는 전과가 있습니다.
동생이 구속되었습니다.
저는 집행유예를 받았습니다.
음주운전으로 벌금형을 받았어요.
""",
}
SILENT: str = """
Does your travel insurance cover cancer treatment?
What is the covid travel policy?
Passengers who are pregnant need a medical certificate after week 28.
The reason for cancellation is medical.
cancellation_reason: health
Please choose one: change of plan, airline cancelled flight, weather, health.
Can a diabetic passenger bring insulin on board?
If I am pregnant, can I still fly?
I want to buy health insurance for the trip.
I have cancer insurance with your company.
Do you have halal or kosher meals?
Our halal meal is prepared by a certified kitchen.
Is there a Catholic church near the hotel?
Christian Weber booked two seats.
I am Christian Weber and my order is late.
This is Christian speaking.
I would like a black suitcase.
My phone is black and has a crack.
The white shirt is out of stock.
I am flying to India next week.
I bought a Korean cookbook.
The European Union has a rule on delays.
I pay with my credit union card.
Western Union charged me twice.
I was charged twice for the same order.
I was charged a fee of 50 dollars.
Please vote for the best answer.
I vote for option two.
The party of four arrives at nine.
We are a party of five.
Our conservative estimate is two weeks.
I am looking for a liberal refund policy.
Democrats and republicans debated the bill on TV.
The museum of Jewish history opens at ten.
The book is about a gay couple in Paris.
Is Dubai safe for gay travellers?
Straight flights only, please.
The gene editing course costs 300 euros.
How much is a DNA test kit?
The fingerprint sensor of the laptop is broken.
How do I set up the fingerprint reader?
The document fingerprint is a SHA-256 digest.
Does a criminal record prevent a visa?
What happens when someone is arrested at the border?
The suspect in the novel was convicted.
My order was arrested by customs paperwork, so to say; where is it?
I am sick of waiting for this refund.
My patience is running out.
The patient portal is down.
The battery died after two days.
My son has a new bike.
My wife has a question about seats.
I have depression glass to sell: vintage bowls.
My flight was delayed by a heart-shaped balloon.
I have anxiety.js installed as a dependency.
The stroke width of the pen is wrong.
He is stroke-rate champion of the rowing club.
Our family has a reservation for tonight.
The union of both lists is empty.
SELECT a UNION SELECT b
Union Station is where we meet.
I joined the loyalty program last year.
I joined the frequent flyer union of miles? No, the miles club.
I was sentenced twice in the grammar exercise, as the teacher joked.
My disability insurance number is on the form.
Wheelchair assistance can be requested 48 hours before departure.
Is wheelchair assistance free?
Blind carbon copies are not shown.
The deaf community centre is next door.
Mental health is covered by plan B.
Our policy on pregnancy: flying is allowed until week 36.
The agent was blind to the error in row 7, said the report.
Add a filter for asthma inhalers in the shop.
We sell diabetes test strips.
Covid tests are no longer required.
I do not have any medical conditions.
She is not a Muslim.
I am not pregnant.
Buddhist temples in Kyoto are worth a visit.
Where is the nearest mosque?
The priest in the film was great.
Faith Miller ordered a lamp.
My church shoes arrived in the wrong size.
Trans-Siberian railway tickets, please.
I am in transit in Doha.
I'd like to cancel because of a change of plans.
He is a member of the gold tier.
She is a member of your loyalty programme.
We support the left and right arrow keys.
The right candidate gets the job.
임신부는 28주 이후 진단서가 필요합니다.
암 보험 가입 방법을 알려주세요.
우울증 진단을 받은 고객도 가입할 수 있나요?
코로나 여행 정책이 궁금합니다.
코로나 때문에 항공편이 취소되었나요?
당뇨 환자용 식사가 있나요?
할랄 식사를 제공하나요?
교회 근처 호텔을 찾아주세요.
절 체험 프로그램을 예약하고 싶어요.
휠체어 서비스를 신청하는 방법은?
장애인 할인 정책을 알려주세요.
국민의힘 당사 주소가 어디인가요?
민주당 전당대회 일정 알려줘.
흑인 음악 앨범을 주문했습니다.
유전자 검사 키트 가격이 얼마예요?
지문 인식 노트북을 샀어요.
전과 다르게 배송이 느려요.
노조 파업으로 항공편이 취소됐나요?
환불 사유는 건강 문제로 선택하세요.
체포 영화 DVD 재고가 있나요?
건강 보험료가 얼마인가요?
"""


def stated() -> list[tuple[str, str]]:
    """(category, sentence) of each statement."""
    return [(category, line) for category, block in STATED.items() for line in block.strip().splitlines()]


def silent() -> list[str]:
    """Sentences without one."""
    return SILENT.strip().splitlines()
