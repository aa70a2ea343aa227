"""Lineage: ``derived`` was made from ``source`` (``prov:wasDerivedFrom``). Nodes are ``kind:id``."""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Record


class NodeKind(StrEnum):
    """Everything that can be made from someone's data."""

    SUBJECT = "subject"
    TRAJECTORY = "trajectory"
    BLOCK = "block"
    FEEDBACK = "feedback"
    SIGNAL = "signal"
    PATTERN = "pattern"
    PROPOSAL = "proposal"
    FACT = "fact"
    WORLD = "world"
    TASK = "task"
    DATASET_ROW = "dataset_row"
    DATASET = "dataset"
    ADAPTER = "adapter"
    RELEASE = "release"
    GATE_REPORT = "gate_report"
    GRADE = "grade"
    IMPORT = "import"
    """A file that runs were imported from."""


class Node(Record):
    """One thing in the lineage graph."""

    kind: NodeKind
    id: str


class LineageEdge(Record):
    """``derived`` was made from ``source``."""

    derived: Node
    source: Node
