"""Builds the wheel with CMake: a PEP 517 backend that needs only CMake and the library's own requirements.

``pip install . --config-settings build-dir=build/release`` uses the objects of an existing build.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parents[2]
Settings = Optional[dict[str, Any]]


def _version() -> str:
    found = re.search(r"project\(bitpool VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert found, "CMakeLists.txt does not say the version"
    return found[1]


def _tag() -> str:
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{platform}"


def _metadata() -> str:
    about = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    summary = re.search(r'^description = "(.*)"$', about, re.MULTILINE)
    assert summary, "pyproject.toml has no description"
    return (
        f"Metadata-Version: 2.1\nName: bitpool\nVersion: {_version()}\nSummary: {summary[1]}\n"
        "Requires-Python: >=3.9\nRequires-Dist: numpy>=1.22\n"
        "Provides-Extra: sklearn\nRequires-Dist: scikit-learn>=1.1; extra == 'sklearn'\n"
        "Provides-Extra: progress\nRequires-Dist: tqdm; extra == 'progress'\n"
        "Provides-Extra: cluster\nRequires-Dist: distributed>=2022.12; extra == 'cluster'\n"
    )


def _wheel_facts() -> str:
    return f"Wheel-Version: 1.0\nGenerator: bitpool\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def _entry_points() -> str:
    about = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    scripts = re.search(r"^scripts = \{ (.*) \}$", about, re.MULTILINE)
    assert scripts, "pyproject.toml has no scripts"
    return "[console_scripts]\n" + "\n".join(scripts[1].replace('"', "").split(", ")) + "\n"


def _build(settings: Settings) -> Path:
    """Builds the package and returns its folder."""
    given = (settings or {}).get("build-dir")
    build = Path(os.path.abspath(given)) if given else ROOT / "build" / f"wheel-{_tag()}"
    if not (build / "CMakeCache.txt").exists():
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DBITPOOL_TESTS=OFF", "-DBITPOOL_BENCHMARKS=OFF"]
        options.append(f"-DBITPOOL_PYTHON={sys.executable}")
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", "-Wno-dev", *options], check=True)
    subprocess.run(["cmake", "--build", str(build), "--target", "bitpool_python"], check=True)
    package = build / "python" / "bitpool"
    extension = package / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not extension.exists():
        raise SystemExit(f"{build} is for another Python: {extension.name} is not there")
    return package


def _files_of(package: Path) -> list[Path]:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return sorted(
        one for one in package.rglob("*") if one.suffix in (".py", ".pyi", ".typed") or one.name == f"_native{suffix}"
    )


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: Any = None) -> str:
    """The hook that pip calls."""
    package = _build(config_settings)
    info = f"bitpool-{_version()}.dist-info"
    contents = {f"bitpool/{one.relative_to(package)}": one.read_bytes() for one in _files_of(package)}
    contents[f"{info}/METADATA"] = _metadata().encode()
    contents[f"{info}/WHEEL"] = _wheel_facts().encode()
    contents[f"{info}/entry_points.txt"] = _entry_points().encode()
    contents[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = []
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
    contents[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    wheel = f"bitpool-{_version()}-{_tag()}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return wheel


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """The hook that makes an archive of the sources: all files that git knows."""
    name = f"bitpool-{_version()}"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    (Path(sdist_directory) / "PKG-INFO").write_text(_metadata(), encoding="utf-8")
    with tarfile.open(Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        archive.add(Path(sdist_directory) / "PKG-INFO", f"{name}/PKG-INFO")
        for path in filter(None, listed.decode().split("\0")):
            archive.add(ROOT / path, f"{name}/{path}", recursive=False)
    (Path(sdist_directory) / "PKG-INFO").unlink()
    return f"{name}.tar.gz"
