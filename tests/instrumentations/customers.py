"""Customers: each a process of its own, with a framework and its instrumentation, that talks to a shop's agent."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CLIENTS = Path(__file__).parent / "clients"
LATEST = {"OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental"}
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
PARTS = frozenset({"cache_read_tokens", "reasoning_tokens"})
TENANT = "acme"
PERSON = "customer-17"
WAYS = ("plain", "stream")
SECONDS = 120


@dataclass(frozen=True)
class Customer:
    """Which client runs, and what its user sets besides the usual variables."""

    script: str
    environment: Mapping[str, str] = field(default_factory=dict)
    protocol: str = "http/protobuf"
    untold: frozenset[str] = frozenset()
    """Parts of the usage that the instrumentation leaves out."""
    names_items: bool = False
    """Whether history names a call by its item in the Responses API, which no result names, and not by the call."""


CUSTOMERS: Mapping[str, Customer] = {
    "openai-v2, log events of 1.30": Customer("run_openai_v2.py", {CAPTURE: "true"}, untold=PARTS),
    "openai-v2, span attributes": Customer("run_openai_v2.py", {**LATEST, CAPTURE: "SPAN_ONLY"}, untold=PARTS),
    "openai-v2, one log event a call": Customer(
        "run_openai_v2.py",
        {**LATEST, CAPTURE: "EVENT_ONLY", "OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT": "true"},
        "grpc",
        untold=PARTS,
    ),
    "openinference-openai": Customer("run_openinference_openai.py"),
    "pydantic-ai": Customer("run_pydantic_ai.py", protocol="grpc"),
    "openai-agents, openinference": Customer("run_openai_agents.py"),
    "openai-agents, openllmetry": Customer("run_openai_agents_openllmetry.py", names_items=True),
    "langchain, openinference": Customer("run_langchain.py", protocol="grpc"),
    "langchain, openllmetry": Customer("run_langchain_openllmetry.py", untold=frozenset({"reasoning_tokens"})),
    "langchain, langsmith": Customer(
        "run_langsmith.py", {"LANGSMITH_TRACING": "true", "LANGSMITH_TRACING_MODE": "otel"}
    ),
}
"""Each way in which a framework was seen to send."""


@dataclass(frozen=True)
class Shop:
    """What a customer's process is pointed at."""

    python: Path
    model_url: str
    http: str
    grpc: str
    key: str
    """The tenant's."""

    def open(self, name: str, session: str, **extra: str) -> subprocess.Popen[str]:
        """A customer's process; it ends by itself."""
        customer = CUSTOMERS[name]
        environment = {
            "PATH": os.environ["PATH"],
            "OPENAI_BASE_URL": self.model_url,
            "OPENAI_API_KEY": session,
            "OTEL_SERVICE_NAME": "shop",
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.grpc if customer.protocol == "grpc" else self.http,
            "OTEL_EXPORTER_OTLP_PROTOCOL": customer.protocol,
            "OTEL_EXPORTER_OTLP_HEADERS": f"x-tidemill-key={self.key}",
            "OTEL_BSP_SCHEDULE_DELAY": "40",  # children leave long before their root
            "OTEL_BLRP_SCHEDULE_DELAY": "40",
            "SHOP_USER": PERSON,
            "SHOP_SESSION": session,
            "SHOP_WAYS": ",".join(WAYS),
        }
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [self.python, "-I", "-c", _START, str(CLIENTS), customer.script],
            env=environment | dict(customer.environment) | extra,
            cwd=CLIENTS,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )


_START = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"
"""Nothing of the tests' own environment is on the client's path but the clients' folder."""


def finish(process: subprocess.Popen[str], line: str = "") -> str:
    """Give it a line, wait for its end; empty when all went well, else what it wrote."""
    try:
        out, err = process.communicate(line, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    noise = [line for line in err.splitlines() if "Failed to export" in line or "Transient error" in line]
    return "" if process.returncode == 0 and not noise else f"exit {process.returncode}\n{out}\n{err[-3000:]}"
