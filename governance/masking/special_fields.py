"""Which JSON fields hold a special category of GDPR Articles 9 and 10 by their name.

Theory. A field named ``diagnosis`` or ``religion`` states its value of the person whom the record is about, as a
sentence does. Names that an airline or a shop uses for its own enumerations (``insurance``, ``reason``, ``meal``,
``condition``) are not among them; a few that are ambiguous (``race``) count beside fields that tell a person. A yes or
a no alone says nothing that a word list could mask: such a value stays (``values.says_nothing``).
"""

from __future__ import annotations

from typing import Final

from governance.masking.words import listed

_NAMES: Final = {
    "HEALTH": """
        diagnosis diagnoses primary_diagnosis secondary_diagnosis medical_condition medical_conditions health_condition
        health_conditions chronic_condition chronic_conditions medical_history health_history medication medications
        current_medications hiv_status allergies disability disabilities disability_type disability_status blood_type
        pregnancy_status icd_code icd10_code illness illnesses mental_health_condition mental_illness health_status
        진단 진단명 병명 질병 질환 지병 병력 기저질환 복용약 복용약물 알레르기 장애등급 장애유형 혈액형 건강상태
    """,
    "BELIEF": """
        religion religions religious_belief religious_beliefs religious_affiliation faith philosophical_belief 종교 신앙
    """,
    "ETHNICITY": """
        ethnicity ethnicities ethnic_origin ethnic_group ethnic_background racial_origin race_ethnicity 인종 민족
    """,
    "POLITICAL_OPINION": """
        political_opinion political_opinions political_affiliation political_party political_views political_view
        party_affiliation party_membership voted_for 정치성향 정치적성향 지지정당
    """,
    "SEX_LIFE": "sexual_orientation sexuality sex_life gender_identity 성적지향 성지향",
    "TRADE_UNION": """
        trade_union trade_union_membership union_membership union_name labor_union labour_union 노동조합 노조 노조가입
    """,
    "GENETIC": """
        genetic_data genetic_test genetic_tests genetic_test_result genetic_test_results genotype dna_profile
        dna_sequence brca_status 유전정보 유전자정보 유전자검사
    """,
    "BIOMETRIC": """
        biometric_data biometric_template fingerprint_template fingerprint_data face_template faceprint voiceprint
        iris_scan iris_template retina_scan 지문 홍채 생체정보
    """,
    "CRIMINAL_RECORD": """
        criminal_record criminal_records criminal_history criminal_conviction criminal_convictions criminal_offence
        criminal_offences criminal_offense criminal_offenses arrest_record prior_convictions 전과 범죄경력 범죄기록
    """,
}
TYPES: Final[dict[str, str]] = {name: entity for entity, block in _NAMES.items() for name in listed(block)}
"""Field name to category."""
CATEGORIES: Final = frozenset(_NAMES)
BESIDE_A_PERSON: Final[dict[str, str]] = {
    "race": "ETHNICITY",
    "symptoms": "HEALTH",
    "prescription": "HEALTH",
    "prescriptions": "HEALTH",
    "conviction": "CRIMINAL_RECORD",
    "convictions": "CRIMINAL_RECORD",
    "fingerprint": "BIOMETRIC",
}
"""The same for names that mean other things too: they count beside fields that tell a person."""
