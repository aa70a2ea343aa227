"""Grades in imported files are feedback under the id that their tool gave them: twice is once, a change is a change."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from governance.records.feedback import Feedback
from governance.records.rights import Purpose
from pipelines.importing import ingest
from pipelines.wiring import Mill
from tests.ingestion.import_documents import DOCUMENTS, TRACE
from tests.pipelines.test_ingest import EARLY, contract, files, home, mill  # noqa: F401 - fixtures


def langfuse(value: float) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENTS["langfuse"])
    base = {"name": "helpful", "traceId": TRACE, "observationId": None, "comment": "quick"}
    at = "2025-06-02T10:00:00Z" if value == 1 else "2025-06-03T10:00:00Z"
    document["trace"]["scores"] = [
        base | {"id": "sc-1", "value": value, "updatedAt": at},
        base | {"id": "sc-2", "value": 1, "timestamp": "2025-06-02T10:00:00Z"},
    ]
    return document


def langsmith(value: float) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENTS["langsmith"])
    at = "2024-10-12T00:00:00Z" if value == 1 else "2024-10-13T00:00:00Z"
    graded = [{"id": f"fb-{n}", "key": "helpful", "score": 1, "created_at": "2024-10-12T00:00:00Z"} for n in (1, 2)]
    graded[0] |= {"score": value, "modified_at": at, "comment": "quick"}
    document["post"][0]["feedback"] = graded
    return document


def phoenix(value: float) -> list[dict[str, Any]]:
    document = copy.deepcopy(DOCUMENTS["phoenix"])
    at = "2024-05-02T00:00:00Z" if value == 1 else "2024-05-03T00:00:00Z"
    result = {"score": value, "label": "good", "explanation": "quick"}
    document[1]["attributes"]["user.id"] = "C-7"
    document[1]["span_annotations"] = [
        {"id": "an-1", "name": "helpful", "annotator_kind": "HUMAN", "result": result, "updated_at": at},
        {"id": "an-2", "name": "helpful", "annotator_kind": "LLM", "result": {"score": 1}, "created_at": at},
    ]
    return document


def mlflow(value: float) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENTS["mlflow"])
    at = "2024-05-02T00:00:00Z" if value == 1 else "2024-05-03T00:00:00Z"
    document["info"]["assessments"] = [
        {"assessment_id": "a-1", "assessment_name": "helpful", "feedback": {"value": value}, "rationale": "quick",
         "create_time": "2024-05-02T00:00:00Z", "last_update_time": at},
        {"assessment_id": "a-2", "assessment_name": "helpful", "feedback": {"value": 1},
         "create_time": "2024-05-02T00:00:00Z"},
    ]  # fmt: skip
    return document


FORMS = {
    "langfuse": (langfuse, "sc"),
    "langsmith": (langsmith, "fb"),
    "phoenix": (phoenix, "an"),
    "mlflow": (mlflow, "a"),
}


def held(mill: Mill) -> dict[str, Feedback]:  # noqa: F811
    rows = mill.store.feedback.list(Purpose.COMPLY, ["acme"], EARLY, mill.clock.now()).rows
    return {one.current.id: one for one in rows}


@pytest.mark.parametrize("form", FORMS)
def test_grades_keep_the_identity_that_their_tool_gave_them(mill: Mill, tmp_path: Path, form: str) -> None:  # noqa: F811
    contract(mill)
    made, prefix = FORMS[form]
    for _ in range(2):
        assert ingest(mill, "acme", files(tmp_path, first=made(1)))["ok"]
    found = held(mill)
    assert sorted(found) == [f"{form}/{prefix}-1", f"{form}/{prefix}-2"]
    one = found[f"{form}/{prefix}-1"]
    assert (one.current.value, one.current.comment, one.earlier) == (1.0, "quick", ())
    (run,) = mill.store.feedback.runs([one])[one.current.ref[:2]]
    ingest(mill, "acme", files(tmp_path, second=made(-1)))
    found = held(mill)
    assert len(found) == 2
    one = found[f"{form}/{prefix}-1"]
    assert [said.value for said in one.history] == [1.0, -1.0]
    signals = mill.store.signals.list(Purpose.COMPLY, ["acme"], EARLY, mill.clock.now())
    values = sorted(signal.value for signal in signals if signal.trajectory_id == run and signal.label == "helpful")
    assert values == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("form", "id_", "content"),
    [
        ("langfuse", "langfuse/sc-9", "It is closed."),
        ("langsmith", "langsmith/fb-9/correction", '{"output":"It is closed."}'),
    ],
)
def test_what_the_answer_should_have_been_is_a_correction(
    mill: Mill,  # noqa: F811
    tmp_path: Path,
    form: str,
    id_: str,
    content: str,
) -> None:
    contract(mill)
    document = FORMS[form][0](1)
    if form == "langfuse":
        document["trace"]["scores"].append({"id": "sc-9", "name": "output", "dataType": "CORRECTION", "traceId": TRACE,
                                            "observationId": None, "stringValue": content})  # fmt: skip
    else:
        said = {"id": "fb-9", "key": "helpful", "score": 0, "correction": {"output": "It is closed."}}
        document["post"][0]["feedback"].append(said)
    ingest(mill, "acme", files(tmp_path, only=document))
    one = held(mill)[id_]
    assert (one.current.kind, one.current.content) == ("correction", content)
    signals = mill.store.signals.list(Purpose.COMPLY, ["acme"], EARLY, mill.clock.now())
    assert [signal.detail["content"] for signal in signals if signal.kind == "correction"] == [content]
