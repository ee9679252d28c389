"""Jobs for the tests of the cluster, in a module of their own so that workers can import them."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from bitpool.cluster import EncodeJob, WorkDied

BITS = 16


def code_of(path: Path) -> np.ndarray:
    return np.frombuffer(hashlib.sha256(path.read_bytes()).digest()[: BITS // 8], np.uint8)


@dataclass(frozen=True)
class FakeEncode(EncodeJob):
    """Codes that are quickly made. The content of a file says what befalls whoever reads it."""

    log: str = ""  #: a folder with an empty file for every time a picture was read

    @classmethod
    def of_folder(cls, folder: Path, per_part: int = 4) -> FakeEncode:
        (folder / "log").mkdir(exist_ok=True)
        return cls(str(folder / "pictures"), per_part, 0, "", "fake", BITS, log=str(folder / "log"))

    def examine(self, paths: Sequence[Path]) -> Any:
        found = []
        for path in paths:
            Path(self.log, f"{path.stem}.{os.getpid()}.{time.monotonic_ns()}").touch()
            _suffer(path.read_bytes(), path)
            facts = {"width": 3, "height": 2, "checksum": 1, "failure": "", "thumbnail": path.read_bytes()}
            found.append({"code": code_of(path).tobytes(), **facts})
        return found


def _suffer(content: bytes, path: Path) -> None:
    if content == b"exit":
        os._exit(3)
    elif content == b"kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif content == b"memory":
        np.ones(1 << 31, np.uint8)
    elif content == b"program":
        raise WorkDied("the program was ended by SIGSEGV")
    elif content == b"fail":
        raise OSError(28, "No space left on device")
    elif content == b"once":  # until somebody kills the first to read it
        first = path.with_suffix(".pid")
        if not first.exists():
            path.with_suffix(".child").write_text(str(os.getpid()))
            first.write_text(str(os.getppid()))
            time.sleep(600)
    elif content == b"wait":
        while not path.with_suffix(".go").exists():
            time.sleep(0.01)
