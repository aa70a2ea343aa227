"""Secrets: found whole wherever they are written, look-alikes and identifiers left alone, in linear time."""

from __future__ import annotations

import base64
import json
import random
import string
import time
import uuid
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import pii_secrets
from benchmarks.pii_hostile import growth
from governance.masking.detection import Detector, TextKind
from governance.masking.profile import TextProfile
from governance.masking.recognisers.kit import Listed
from governance.masking.recognisers.secrets import build
from governance.masking.secret_fields import holds_secret
from governance.masking.walker import leaves
from governance.records.masking_policy import DETECTED_ONLY

[SECRETS] = build()
ALNUM = string.ascii_letters + string.digits


def drawn(count: int, letters: str = ALNUM, seed: int = 1) -> str:
    """Random letters, made here so that no secret stands in the repository."""
    return "".join(random.Random(f"{seed} {letters} {count}").choices(letters, k=count))


def found(text: str, listed: Listed = SECRETS) -> list[str]:
    spans = listed.recogniser.spans(text)  # type: ignore[attr-defined]
    return [text[start:end] for start, end in spans]


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
TOKENS = [
    "gh" + "p_" + drawn(36),
    "github" + "_pat_" + drawn(22) + "_" + drawn(59),
    "gl" + "pat-" + drawn(20),
    "sk" + "-ant-api03-" + drawn(93) + "AA",
    "sk" + "-proj-" + drawn(48),
    "sk" + "-" + drawn(48),
    "sk" + "_live_" + drawn(24),
    "xo" + "xb-123456789012-123456789012-" + drawn(24),
    "AK" + "IA" + drawn(16, UPPER),
    "AI" + "za" + drawn(35),
    "ya" + "29." + drawn(60),
    "hf" + "_" + drawn(34, string.ascii_letters),
    "np" + "m_" + drawn(36),
    "SG" + "." + drawn(22) + "." + drawn(43),
    "dop" + "_v1_" + drawn(64, HEX),
    "shp" + "at_" + drawn(32, HEX),
    "hv" + "s." + drawn(95),
    "lin" + "_api_" + drawn(40),
    drawn(10, string.digits) + ":AA" + drawn(33),
    drawn(3) + "8Q~" + drawn(34),
]


def jwt(payload: dict[str, Any]) -> str:
    parts = [json.dumps({"alg": "HS256", "typ": "JWT"}), json.dumps(payload)]
    return ".".join([base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts] + [drawn(43)])


@pytest.mark.parametrize("token", [*TOKENS, jwt({"sub": "1"})])
@pytest.mark.parametrize(
    "around", ["{}", "use {} now", "see {}.", '"{}",', "({})", "x={};", "line\\n{}\\nline", "{}\n"]
)
def test_a_published_format_is_found_whole(token: str, around: str) -> None:
    assert found(around.format(token)) == [token]


PASSWORD = "h0pk1ns" + "~21s"
KEY = drawn(32)
NAMED = [
    ("my password is {}, ok?", "hunter" + "22"),
    ("DB_PASSWORD={}", PASSWORD),
    ('password: "{}"', PASSWORD),
    ("<password>{}</password>", PASSWORD),
    ('<add key="ClearTextPassword" value="{}" />', PASSWORD),
    ("비밀번호는 {} 입니다", "abc1234"),
    ("비밀번호: {}", PASSWORD),
    ("Server=db;User Id=sa;Password={};Encrypt=true", PASSWORD),
    ("API_KEY={}", KEY),
    ('client_secret = "{}"', KEY),
    ("'secretAccessKey': '{}',", KEY),
    ('{{\\"accessToken\\": \\"{}\\"}}', KEY),
    ("localStorage.setItem('sessionToken', '{}');", KEY),
    ('os.environ.get("SERVICE_TOKEN", "{}")', KEY),
    ("- name: SERVICE_TOKEN\n  value: {}\n", KEY),
    ("export STRIPE_SECRET={}\n", KEY),
    ("authenticated with token {} at noon", KEY),
    ("Authorization: Bearer {}", KEY),
    ("curl -H 'Authorization: Token {}' https://a.example", KEY),
    ("Authorization: Basic {}", base64.b64encode(b"user:word").decode()),
    ('-H "apikey: {}"', str(uuid.UUID(int=7**40 % 2**128))),
    ("X-API-Key: {}", KEY),
    ("GET /cb?access_token={}&state=1", KEY),
    ("sourcegraph: {}", drawn(40, HEX)),
    ("AccountKey={};EndpointSuffix=core", drawn(86) + "=="),
    ("Cookie: {}", f"sid={KEY}; theme=dark"),
    ("Set-Cookie: sid={}; Path=/; HttpOnly", KEY),
    ("JSESSIONID={}; x", KEY),
    ("postgres://{}@db.internal:5432/x", f"app:{PASSWORD}"),
    ("redis://{}@cache:6379", f":{PASSWORD}"),
    ('curl -u "{}" https://a.example', f"elastic:{PASSWORD}"),
    ("kind: Secret\ndata:\n  blob: {}\n", base64.b64encode(b"something hidden").decode()),
    ("https://hooks.slack.com/services/{}", f"T0{drawn(8, UPPER)}/B0{drawn(8, UPPER)}/{drawn(24)}"),
]


@pytest.mark.parametrize(("text", "value"), NAMED)
def test_a_named_or_carried_secret_is_found_whole_and_alone(text: str, value: str) -> None:
    assert found(text.format(value)) == [value]


BODY = "\n".join(drawn(64, seed=row) for row in range(20)) + "\n" + drawn(30) + "="


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""])
def test_a_private_key_is_found_also_when_it_was_cut(kind: str) -> None:
    begin, end = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
    assert found(f"it is\n{begin}\n{BODY}\n{end}\nkeep it") == [BODY]
    assert found(f"it is\n{begin}\n{BODY}") == [BODY]
    assert found(f"{BODY}\n{end}\nkeep it") == [BODY]
    one_line = BODY.replace("\n", "\\n")
    assert found(json.dumps({"k": f"{begin}\n{BODY}\n{end}\n"})) == [one_line]
    assert found(f"{begin}\n{end}") == []


LOOK_ALIKES = [
    "key = AKIA" + "X" * 16,
    "gh" + "p_" + "x" * 36,
    "API_KEY=YOUR_API_KEY",
    'api_key: "${API_KEY}"',
    "password: <your password>",
    "password = {{ db_password }}",
    'curl -u "$USER:$PASS" https://a.example',
    "curl -u username:password https://a.example",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "postgres://user:password@localhost/x",
    "secret = get_secret_key(name)",
    "password = os.environ['DB_PASSWORD']",
    "token_url=https://id.example/oauth2/token/v2024",
    "api_key_id: 3f786850e387550fdab836ed7e6dc881de23001b",
    "credentialsId: '29f63271-dc2f-4734-8221-5b31b5169bac'",
    "password_length: 16, passwordVariable: 'PASSWORD1'",
    "usage: prompt_tokens=1200, completion_tokens: 340, max_tokens=4096",
    "next_page_token=CAUQAA1234567890abcdef",
    "public_key = 9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit",
    "secretName: gateway-tls-2024",
    "api_version=rc0.15.0_20231217_1420-SNAPSHOT",
    "IceSSL.KeyFile=s_rsa1024_priv.pem",
    "The password must have at least 8 characters.",
    "I forgot my password, please reset it. Order SO-1234567890.",
    "the token expires in 3600 seconds",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "checksum: sha256:" + drawn(64, HEX),
    "resolution: strict-uri-encode@npm:2.0.0\n  checksum: " + drawn(128, HEX),
    "data:image/png;base64," + drawn(4000, ALNUM + "+/"),
    "Set-Cookie the header, then read the cookie: it has a name",
    "https://lh3.example.com/-tWXjX3LUD6w/Ua4La_N5E2I/AAAAAAAAACg/EXO-XOXO-teaser-exo-k-34521098-720-516.jpg",
    "session 4 of 12: secret gardens of Kyoto 2024",
]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert found(text) == []


ID_ALPHABET = st.text(alphabet=ALNUM, min_size=16, max_size=32)
IDENTIFIERS = st.one_of(
    st.uuids().map(str),
    st.uuids().map(lambda one: one.hex),
    st.uuids().map(lambda one: one.hex[:16]),
    st.builds(
        "{}{}".format,
        st.sampled_from(["call_", "toolu_01", "chatcmpl-", "run-", "resp_", "msg_", "thread_", "asst_", "req_", "fc_"]),
        ID_ALPHABET,
    ),
    st.from_regex(r"(SO|ORD|INV)-[0-9]{4,12}", fullmatch=True),
    st.binary(min_size=20, max_size=64).map(bytes.hex),
)
PLACES = st.sampled_from(
    [
        "{}",
        "id: {}",
        '{{"id": "{}"}}',
        "trace_id={} done",
        "tool_call_id: {}",
        "order {} is late",
        "request {}\n",
        "({})",
    ]
)


@settings(max_examples=150, deadline=None)
@given(IDENTIFIERS, PLACES)
def test_identifiers_survive(identifier: str, place: str) -> None:
    assert found(place.format(identifier)) == []


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=300, max_size=3000))
def test_images_survive(image: bytes) -> None:
    assert found(f'{{"url": "data:image/png;base64,{base64.b64encode(image).decode()}"}}') == []


WORDS = st.sampled_from(
    [*TOKENS[:6], "password", "=", ":", '"', "'", "Bearer", "token", "secret", PASSWORD, KEY, "curl -u", "a:b1c2d3", "://",
     "x@", "Cookie: a=", ";", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\n", "\\n", "is", "비밀번호",
     "kind: Secret\n", "data:\n", "  k: ", "hi", "sid", "{", "}", "1//0", "|", "Private-Lines: 2\n", "okta"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(WORDS, max_size=8), st.sampled_from(["", " "]), st.text(max_size=12))
def test_the_condition_is_necessary_and_spans_are_apart(words: list[str], between: str, more: str) -> None:
    text = between.join([*words, more])
    spans = SECRETS.recogniser.spans(text)  # type: ignore[attr-defined]
    assert not spans or SECRETS.may_find(TextProfile(text))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))


HOSTILE = {
    "names": "the password token key is ",
    "assignments": "api_key: ",
    "chained": "password=",
    "headers of tokens": "eyJ",
    "dotted": "eyJaaaaaaaaaa.",
    "begins": "-----BEGIN PRIVATE KEY-----",
    "ends": "-----END PRIVATE KEY-----\n",
    "urls": "://a:a@",
    "cookies": "Cookie: a=1; ",
    "options": "curl -u ",
    "library": "aws key xoxp-1-npm_token AKC ",
    "bars": "|",
    "blanks": "password" + " " * 4000,
    "quotes": '"',
    "one word": "a1",
    "manifests": "kind: Secret\ndata:\n  a: b\n---\n",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=list(HOSTILE))
def test_cost_grows_with_the_text(piece: str) -> None:
    _, ratio = growth(SECRETS.recogniser.spans, piece, 20_000)  # type: ignore[attr-defined]
    assert ratio < 10


def test_a_megabyte_is_read_to_its_end() -> None:
    text = "nothing to see here, order SO-12345. " * 27_000 + f"API_KEY={KEY}"
    begin = time.process_time()
    assert found(text) == [KEY]
    assert time.process_time() - begin < 20


FORCED = [
    ({"api_key": KEY}, True),
    ({"OPENAI_API_KEY": "short1"}, True),
    ({"clientSecret": "plain"}, True),
    ({"password": "correct horse"}, True),
    ({"http.request.header.authorization": ["Bearer abc12345"]}, True),
    ({"headers": {"Cookie": "sid=abcdef12345"}}, True),
    ({"token": KEY}, True),
    ({"token": "refund", "logprob": -0.1}, False),
    ({"token": "abcdefgh12345678", "logprob": -0.1}, False),
    ({"token": "refund"}, False),
    ({"authorization": "approved"}, False),
    ({"cookie": "accepted"}, False),
    ({"password": "${DB_PASSWORD}"}, False),
    ({"next_page_token": KEY}, False),
    ({"continuationToken": KEY}, False),
    ({"api_key_id": KEY}, False),
    ({"session_id": KEY}, False),
    ({"password_hint": "my dog"}, False),
    ({"public_key": KEY}, False),
    ({"properties": {"password": {"type": "string"}}}, False),
    ({"secret": "Secret Garden Tour"}, False),
]


@pytest.mark.parametrize(("value", "secret"), FORCED)
def test_fields_that_are_secrets_by_name(value: dict[str, Any], secret: bool) -> None:
    leaf = next(leaves(value))
    assert (leaf.forced == "SECRET") is secret
    assert next(leaves(json.dumps(value))).forced == leaf.forced


def test_counts_of_tokens_stay_numbers() -> None:
    usage = {"tokens": 123, "max_tokens": 4096, "total_tokens": 7, "token": 5, "secret": True}
    assert [leaf.forced for leaf in leaves(usage)] == []
    assert not holds_secret(("usage", "max_tokens"), (), "4096")


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector()


def test_a_secret_wins_over_what_else_is_seen_in_it(detector: Detector) -> None:
    def masked(text: str) -> list[tuple[str, str]]:
        hits = detector.find([(text, TextKind.CODE)])[0]
        return [(hit.entity_type, text[hit.start : hit.end]) for hit in hits if hit.entity_type not in DETECTED_ONLY]

    assert masked(f"see https://app:{PASSWORD}@mail.example.com/x and kim@x.example") == [
        ("SECRET", f"app:{PASSWORD}"),
        ("EMAIL_ADDRESS", "kim@x.example"),
    ]
    key = uuid.UUID(int=5**50 % 2**128).hex
    assert masked(f"subscription key: {key}, trace {key}") == [("SECRET", key)]


def test_the_labelled_sets(detector: Detector, cases_dir: Path) -> None:
    for counted in pii_secrets.report(detector, cases_dir).values():
        assert counted["recall"] >= 0.95
        assert counted["look_alike_rate"] <= 0.05
