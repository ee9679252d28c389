"""The package as it is installed: wheel, stubs, what is visible."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import bitpool
from bitpool import _native
from conftest import REPOSITORY

PACKAGE = Path(bitpool.__file__).parent


def run_python(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)


def test_all_names_are_there() -> None:
    assert all(hasattr(bitpool, name) for name in bitpool.__all__)
    assert bitpool.__version__ == _native.__version__ and bitpool.__version__.count(".") == 2


def test_what_is_not_asked_for_is_not_imported() -> None:
    """Workers and commands start sooner without scikit-learn."""
    done = run_python("-c", "import sys, bitpool.cluster; bitpool.Index; print('sklearn' in sys.modules)")
    assert done.stdout == "False\n", done.stderr
    done = run_python("-c", "from bitpool import *; import bitpool; print(ITQ is bitpool.METHODS['itq'])")
    assert done.stdout == "True\n", done.stderr
    assert "SAH" in dir(bitpool) and not hasattr(bitpool, "NotThere")


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where mypy keeps what it found out."""
    pytest.importorskip("mypy")
    return tmp_path_factory.mktemp("types")


def test_stubs_say_what_is_there(types: Path) -> None:
    options = ["--mypy-config-file", str(REPOSITORY / "pyproject.toml")]
    options += ["--allowlist", str(Path(__file__).with_name("stubtest_allowlist.txt")), "--ignore-unused-allowlist"]
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent), "MYPY_CACHE_DIR": str(types)}
    modules = [f"bitpool.{stub.stem}" for stub in PACKAGE.glob("*.pyi")]
    assert len(modules) == 2
    done = run_python("-m", "mypy.stubtest", *modules, *options, env=environment, cwd=types)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_fit(types: Path) -> None:
    config = ["--config-file", str(REPOSITORY / "pyproject.toml"), "--cache-dir", str(types)]
    done = run_python("-m", "mypy", *config, "-p", "bitpool", cwd=PACKAGE.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_module_shows_only_its_entry() -> None:
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", _native.__file__], capture_output=True, text=True, check=True
    ).stdout
    names = [line.split()[-1] for line in symbols.splitlines() if " T " in line]
    assert "PyInit__native" in names
    assert not [name for name in names if "blas" in name.lower() or name.startswith(("cblas", "dgemm", "sgemm"))]


def test_a_wheel_holds_one_module_and_the_types(tmp_path: Path) -> None:
    build = PACKAGE.parents[1]
    if not (build / "CMakeCache.txt").exists():
        pytest.skip("this is an installed package, not a build")
    script = f"""
import sys
sys.path.insert(0, {str(REPOSITORY / "python" / "backend")!r})
import bitpool_backend
print(bitpool_backend.build_wheel({str(tmp_path)!r}, {{"build-dir": {str(build)!r}}}))
"""
    done = run_python("-c", script)
    assert done.returncode == 0, done.stdout + done.stderr
    wheel = tmp_path / done.stdout.split()[-1]
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    assert len([name for name in names if name.endswith(".so")]) == 1
    assert {"bitpool/py.typed", "bitpool/_native.pyi", "bitpool/_estimators.pyi", "bitpool/__init__.py"} <= set(names)
    if run_python("-m", "pip", "--version").returncode != 0:
        pytest.skip("no pip to install it with")
    target = tmp_path / "site"
    installed = run_python("-m", "pip", "install", "--no-index", "--no-deps", "--target", str(target), str(wheel))
    assert installed.returncode == 0, installed.stderr
    environment = {**os.environ, "PYTHONPATH": str(target)}
    used = run_python("-c", "import bitpool; print(bitpool.__file__, bitpool.Index(8))", env=environment, cwd=tmp_path)
    assert str(target) in used.stdout and "0 codes" in used.stdout, used.stderr
