"""Kinds of tool errors: labelled by hand from what clients, servers and tools write."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.records.error_kind import ErrorKind
from ingestion.error_kinds import error_kind
from ingestion.failed_results import failed_result
from tests.ingestion.test_importers_cases import runs_of

RATE, AUTH, TIME = ErrorKind.RATE_LIMIT, ErrorKind.AUTH, ErrorKind.TIMEOUT
SCHEMA, NONE, CLASH = ErrorKind.SCHEMA, ErrorKind.NOT_FOUND, ErrorKind.CONFLICT
DOWN, OTHER = ErrorKind.UNAVAILABLE, ErrorKind.OTHER

TYPES = [
    ("schema", SCHEMA), ("not_found", NONE), ("rate_limit", RATE), ("timeout", TIME), ("conflict", CLASH),
    ("validation", SCHEMA), ("invalid_arguments", SCHEMA), ("pydantic_core._pydantic_core.ValidationError", SCHEMA),
    ("json.decoder.JSONDecodeError", SCHEMA), ("openai.RateLimitError", RATE), ("TooManyRequests", RATE),
    ("ThrottlingException", RATE), ("google.api_core.exceptions.ResourceExhausted", RATE), ("TimeoutError", TIME),
    ("httpx.ReadTimeout", TIME), ("asyncio.exceptions.TimeoutError", TIME), ("DEADLINE_EXCEEDED", TIME),
    ("openai.AuthenticationError", AUTH), ("PermissionError", AUTH), ("PERMISSION_DENIED", AUTH),
    ("UNAUTHENTICATED", AUTH), ("AccessDeniedException", AUTH), ("FileNotFoundError", NONE), ("NoSuchKey", NONE),
    ("file_not_found", NONE), ("ObjectDoesNotExist", NONE), ("permission", AUTH), ("parsing", SCHEMA),
    ("ALREADY_EXISTS", CLASH), ("FAILED_PRECONDITION", CLASH), ("sqlalchemy.exc.IntegrityError", CLASH),
    ("ConnectionError", DOWN), ("httpx.ConnectError", DOWN), ("UNAVAILABLE", DOWN), ("InternalServerError", DOWN),
    ("requests.exceptions.ConnectionError", DOWN), ("ConnectTimeout", TIME), ("429", RATE), ("404", NONE),
    ("503", DOWN), ("-32602", SCHEMA), ("-32601", NONE), ("RuntimeError", OTHER), ("_OTHER", OTHER), ("error", OTHER),
    ("ToolError", OTHER), ("output_limit", OTHER), ("unicode_decode", OTHER), ("AuthorQueryError", OTHER),
    ("ResourceNotFoundError", NONE), ("rate_limited", RATE), ("RESOURCE_EXHAUSTED", RATE), ("internal", OTHER),
]  # fmt: skip

TEXTS = [
    ("Error code: 429 - {'error': {'message': 'Rate limit reached for tiny in organization'}}", RATE),
    ("429 Client Error: Too Many Requests for url: https://api.shop.invalid/orders", RATE),
    ("MCP server rate limit exceeded", RATE),
    ("429 Request was rejected due to rate limiting. Details: TPM limit reached.", RATE),
    ("You exceeded your current quota, please check your plan and billing details.", RATE),
    ("You have hit your usage limit, it resets at 2:50pm", RATE),
    ("账户已达到速率限制", RATE),
    ("요청이 너무 많습니다. 잠시 후 다시 시도하세요.", RATE),
    ("401 Client Error: Unauthorized for url: https://api.shop.invalid/me", AUTH),
    ("Error: Invalid API key provided", AUTH),
    ("The access token is expired, please sign in again", AUTH),
    ("403 Forbidden", AUTH),
    ("Permission to use Bash with command rm has been denied.", AUTH),
    ("Not logged in", AUTH),
    ("bash: /etc/shadow: Permission denied", AUTH),
    ("Resource not accessible: insufficient permissions for scope repo", AUTH),
    ("해당 주문을 조회할 권한이 없습니다", AUTH),
    ("HTTPSConnectionPool(host='x', port=443): Read timed out. (read timeout=10)", TIME),
    ("Request timeout after 30000ms", TIME),
    ("context deadline exceeded", TIME),
    ("MCP error -32001: Request timed out", TIME),
    ("응답 시간 초과", TIME),
    ("1 validation error for refundArguments\norder_id\n  Field required [type=missing]", SCHEMA),
    ("MCP error -32602: Invalid arguments for tool refund: [ { code: invalid_type } ]", SCHEMA),
    ("missing field `path`", SCHEMA),
    ('Validation failed for tool "exec": command: must have required properties command', SCHEMA),
    ("repo is required: the argument repo is missing", SCHEMA),
    ("'amount' is a required property", SCHEMA),
    ("refund() missing 1 required positional argument: 'order_id'", SCHEMA),
    ("refund() got an unexpected keyword argument 'order'", SCHEMA),
    ("'12' is not of type 'integer'", SCHEMA),
    ("Expecting value: line 1 column 1 (char 0)", SCHEMA),
    ("order_id does not match the pattern ^A-[0-9]+$", SCHEMA),
    ("400 Bad Request", SCHEMA),
    ("unknown argument(s): colour", SCHEMA),
    ('the call misses its name: missing "name"', SCHEMA),
    ("day is out of range for month", SCHEMA),
    ("repo is required for type=agent", SCHEMA),
    ("Error: user not found", NONE),
    ("Error: payment method certificate_7504069 not found", NONE),
    ("ls: cannot access 'x': No such file or directory", NONE),
    ("MCP error -32601: Method not found", NONE),
    ("Unknown tool: refnud", NONE),
    ("Unsupported tool: refnud", NONE),
    ("relation \"orders\" does not exist", NONE),
    ("주문을 찾을 수 없습니다", NONE),
    ("409 Conflict", CLASH),
    ("duplicate key value violates unique constraint \"orders_pkey\"", CLASH),
    ("An order with this id already exists", CLASH),
    ("이미 존재하는 예약입니다", CLASH),
    ("503 Server Error: Service Unavailable for url: https://api.shop.invalid", DOWN),
    ("[Errno 111] Connection refused", DOWN),
    ("upstream connect error: connection reset before headers", DOWN),
    ("The model is overloaded. Please try again later.", DOWN),
    ("502 Bad Gateway", DOWN),
    ("Internal Server Error", DOWN),
    ("Error: payment amount does not add up, total price is 305, but paid 255", OTHER),
    ("Error: flight HAT069 not available on date 2024-05-20", OTHER),
    ("Error: not enough seats on flight HAT069", OTHER),
    ("Error: gift card balance is not enough", OTHER),
    ("Error: certificate cannot be used to update reservation", OTHER),
    ("division by zero", OTHER),
    ("Blocked by a hook: the message does not match the house style", OTHER),
    ("Something went wrong", OTHER),
    ("", OTHER),
]  # fmt: skip


@pytest.mark.parametrize(("error_type", "kind"), TYPES)
def test_a_type_says_the_kind(error_type: str, kind: ErrorKind) -> None:
    assert error_kind(error_type, "") is kind


@pytest.mark.parametrize(("text", "kind"), TEXTS)
def test_a_text_says_the_kind(text: str, kind: ErrorKind) -> None:
    assert error_kind(None, text) is kind
    assert error_kind("ToolError", text) is kind


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"http.response.status_code": 429}, RATE),
        ({"http.status_code": "404"}, NONE),
        ({"rpc.grpc.status_code": 14}, DOWN),
        ({"rpc.response.status_code": "DEADLINE_EXCEEDED"}, TIME),
        ({"rpc.jsonrpc.error_code": -32602}, SCHEMA),
        ({"rpc.jsonrpc.error_code": -32000}, OTHER),
        ({"http.response.status_code": 200}, OTHER),
        ({"http.response.status_code": None}, OTHER),
    ],
)
def test_a_code_says_the_kind(attributes: dict[str, Any], kind: ErrorKind) -> None:
    assert error_kind("ToolError", "it broke", attributes) is kind


ERRORS: list[tuple[Any, str]] = [
    ("Error: user not found", "Error: user not found"),
    ("ValueError: bad date", "ValueError: bad date"),
    ("requests.exceptions.ConnectionError: refused", "requests.exceptions.ConnectionError: refused"),
    ("Error executing tool refund: 1 validation error", "Error executing tool refund: 1 validation error"),
    ("오류: 주문 없음", "오류: 주문 없음"),
    ({"error": "Token Expired"}, "Token Expired"),
    ({"error": {"code": 429, "message": "slow down"}}, "slow down"),
    ('{"error": "no such order"}', "no such order"),
    ({"success": False, "message": "card was declined"}, "card was declined"),
    ({"ok": False, "error": "channel_not_found"}, "channel_not_found"),
    ({"status": "error", "message": "boom"}, "boom"),
    ({"status_code": 404, "message": "gone"}, "gone"),
    ({"error": True, "message": "Tool validation failed for login"}, "Tool validation failed for login"),
]
FINE: list[Any] = [
    None, "", "ok", [], {}, 3, "Errors were counted: 3", "error.log\nmain.py", "The error rate is 3%.",
    {"error": None, "data": [1]}, {"error": "", "orders": []}, {"error": "partial", "orders": [{"id": 1}]},
    {"status": "failed", "job_id": 7}, {"success": False}, {"code": 200, "message": "ok"}, {"errors": []},
    "Traceback (most recent call last):\n  File \"a.py\"", "Script completed successfully, no errors. Result: True",
    "Error: " + "x" * 3000, {"message": "Your refund failed before and works now."}, '{"error": ', "errors: none",
]  # fmt: skip


@pytest.mark.parametrize(("result", "text"), ERRORS)
def test_a_result_that_is_an_error_in_fact(result: Any, text: str) -> None:
    found = failed_result(result)
    assert found is not None
    assert found.text == text


def test_an_answer_that_mcp_marks_is_an_error() -> None:
    found = failed_result({"isError": True, "content": [{"type": "text", "text": "Rate limit exceeded"}]})
    assert found is not None
    assert error_kind(found.type, found.text) is RATE


@pytest.mark.parametrize("result", FINE)
def test_a_result_that_only_speaks_of_errors_is_none(result: Any) -> None:
    assert failed_result(result) is None


@given(st.text(max_size=300), st.text(max_size=300))
def test_every_error_has_a_kind(error_type: str, text: str) -> None:
    assert error_kind(error_type, text) in ErrorKind


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["error", "status", "code", "message", "ok", "data", "isError", "type"]), inner, max_size=4
    ),
    max_leaves=8,
)  # fmt: skip


@given(JSON)
def test_no_result_breaks_the_reading(result: Any) -> None:
    found = failed_result(result)
    assert found is None or found.text


TAU = {
    "payment method certificate": NONE, "payment method not found": NONE, "not enough balance": OTHER,
    "payment amount does not add up": OTHER, "gift card balance": OTHER, "certificate cannot be used": OTHER,
    "not available on date": OTHER, "not enough seats": OTHER,
}  # fmt: skip


def test_the_errors_of_tau_bench_are_all_found_and_nothing_else(cases_dir: Path) -> None:
    """Its tools write ``Error:`` before every refusal and before nothing else, so the right answer is known."""
    calls = [
        call
        for run in runs_of(cases_dir / "trajectories/tau_bench/historical_trajectories/gpt-4o-airline.json")
        for call in run.calls
    ]
    refused = [call for call in calls if isinstance(call.result, str) and call.result.startswith("Error")]
    assert len(refused) > 50
    assert [call for call in calls if call.error is not None] == refused
    for call in refused:
        assert call.error_kind is next(kind for words, kind in TAU.items() if words in (call.error or "")), call.error


def test_no_output_of_a_swe_agents_shell_is_taken_for_a_tools_error(cases_dir: Path) -> None:
    found: Counter[str] = Counter()
    for path in sorted((cases_dir / "trajectories/swe_agent").glob("*.traj")):
        for run in runs_of(path):
            found.update("error" if call.error is not None else "fine" for call in run.calls)
    assert found["fine"] > 200
    assert found["error"] == 0
