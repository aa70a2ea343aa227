"""Worlds inferred from traces, for agents whose app nobody can run: what reads showed, and what writes changed."""

from __future__ import annotations

from training.inferred.app import InferredApp
from training.inferred.fidelity import Fidelity, fidelity
from training.inferred.learning import infer, schema_of

__all__ = ["Fidelity", "InferredApp", "fidelity", "infer", "schema_of"]
