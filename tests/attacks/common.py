"""What the attacks share: the program under attack, the shims that are preloaded into it, and pictures to feed it."""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_PROGRAM = HERE.parent.parent / "build" / "release" / "bitpool"

# docs/cli.md, "Exit statuses". A signal is none of them, and 70 is an error of ours.
FINE = 0
SOME_FAILED = 7
CLEAR_STATUSES = {2, 3, 4, 5, 6, SOME_FAILED, 130}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How one run of the program ended."""

    status: int  # negative: the signal
    out: str
    errors: str

    def problem(self) -> str | None:
        """What is wrong with the way it ended, whatever it was that failed: a crash, or no clear error."""
        if self.status == FINE:
            return None
        if self.status not in CLEAR_STATUSES:
            return f"exit status {self.status}: {self.errors.strip()[-600:]}"
        if "bitpool: " not in self.errors:
            return f"exit status {self.status} and no message: {self.errors!r}"
        return None


class Program:
    """The program under attack."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path.resolve()

    def command(self, arguments: Sequence[object]) -> list[str]:
        return [str(self.path), *map(str, arguments)]

    def run(self, *arguments: object, settings: dict[str, str] | None = None, timeout: float = 120) -> Outcome:
        done = subprocess.run(self.command(arguments), capture_output=True, env={**os.environ, **(settings or {})},
                              timeout=timeout, check=False)
        return Outcome(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def must(self, *arguments: object, status: int = FINE) -> str:
        """Runs it undisturbed; what it printed."""
        outcome = self.run(*arguments)
        if outcome.status != status:
            raise AssertionError(f"{' '.join(map(str, arguments))}: exit status {outcome.status}: {outcome.errors}")
        return outcome.out


def build_shim(source: str, folder: pathlib.Path) -> pathlib.Path:
    """Compiles a library that is preloaded into the program, with the fork server in it."""
    library = folder / (pathlib.Path(source).stem + ".so")
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-fexceptions", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, HERE / source,
                    HERE / "fork_server.c", "-ldl"], check=True)
    return library


# The shim ends its own process and writes beside it, which a confined one may not.
UNCONFINED = {"BITPOOL_SANDBOX": "off"}


class ForkedProgram(Program):
    """The program with a shim in it, loaded once and forked for every run (fork_server.c), which may be in another folder
    and with limits of its own."""

    def __init__(self, path: pathlib.Path, shim: pathlib.Path, folder: pathlib.Path | None = None,
                 limit: Callable[[], None] | None = None) -> None:
        super().__init__(path)
        self.out, self._errors = shim.with_suffix(".out"), shim.with_suffix(".errors")
        self._server = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, cwd=folder,
                                        preexec_fn=limit, env={**os.environ, "LD_PRELOAD": str(shim), **UNCONFINED})

    def close(self) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()

    def _number(self) -> int:
        assert self._server.stdout is not None
        answer = self._server.stdout.read(4)
        if len(answer) != 4:
            raise AssertionError("the fork server is gone")
        return int(struct.unpack("<i", answer)[0])

    def start(self, *arguments: object, settings: dict[str, str] | None = None) -> int:
        """Begins a run; its process."""
        words = [f"{name}={value}" for name, value in (settings or {}).items()]
        words += [f"ATTACK_OUT={self.out}", f"ATTACK_ERRORS={self._errors}", "", *map(str, arguments)]
        request = b"".join(word.encode() + b"\0" for word in words)
        assert self._server.stdin is not None
        self._server.stdin.write(struct.pack("<I", len(request)) + request)
        return self._number()

    def ended(self) -> bool:
        """Whether the run that was begun is over; to be followed by `finish`."""
        return bool(select.select([self._server.stdout], [], [], 0)[0])

    def finish(self) -> Outcome:
        """Waits for the run that was begun."""
        status = os.waitstatus_to_exitcode(self._number())
        return Outcome(status, self.out.read_text(errors="replace"), self._errors.read_text(errors="replace"))

    def run(self, *arguments: object, settings: dict[str, str] | None = None, timeout: float = 120) -> Outcome:
        process = self.start(*arguments, settings=settings)
        hanging = threading.Timer(timeout, os.kill, (process, signal.SIGABRT))
        hanging.start()
        try:
            return self.finish()
        finally:
            hanging.cancel()


@contextlib.contextmanager
def workshop() -> Iterator[pathlib.Path]:
    """A folder to work in, in memory where that can be had: thousands of runs sync their files."""
    memory = pathlib.Path("/dev/shm")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bitpool-attack-", dir=memory if memory.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def attack_arguments(description: str) -> argparse.ArgumentParser:
    """The arguments that all attacks have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--program", type=pathlib.Path, default=DEFAULT_PROGRAM, help="the program (build/release/bitpool)")
    parser.add_argument("--seed", type=int, default=1, help="what is random follows from it (1)")
    return parser


def png(width: int, height: int, pixels: bytes) -> bytes:
    """A picture of 8-bit RGB pixels as PNG."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + pixels[3 * width * y:3 * width * (y + 1)] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def picture(seed: int, side: int = 96) -> bytes:
    """A small picture of overlapping rectangles: something for detectors to find, and no two alike."""
    random_numbers = random.Random(seed)
    pixels = bytearray(bytes(random_numbers.randrange(256) for _ in range(3)) * (side * side))
    for _ in range(30):
        left, top = random_numbers.randrange(side - 8), random_numbers.randrange(side - 8)
        right = random_numbers.randrange(left + 4, side)
        bottom = random_numbers.randrange(top + 4, side)
        colour = bytes(random_numbers.randrange(256) for _ in range(3))
        for y in range(top, bottom):
            pixels[3 * (y * side + left):3 * (y * side + right)] = colour * (right - left)
    return png(side, side, bytes(pixels))


def write_npy(path: pathlib.Path, descr: str, shape: tuple[int, ...], data: bytes) -> None:
    """An array as NumPy writes it, which the attacks do without."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def write_vectors(path: pathlib.Path, count: int, dimension: int, seed: int) -> None:
    """Random vectors of float as .npy."""
    random_numbers = random.Random(seed)
    values = [random_numbers.gauss(0, 1) for _ in range(count * dimension)]
    write_npy(path, "<f4", (count, dimension), struct.pack(f"<{len(values)}f", *values))


def report(name: str, figures: dict[str, object], problems: list[str]) -> int:
    """Prints what was done and what fell out; the exit status of the attack."""
    for problem in problems[:40]:
        print(f"{name}: {problem}")
    if len(problems) > 40:
        print(f"{name}: and {len(problems) - 40} more")
    print(f"{name}: " + ", ".join(f"{value} {figure}" for figure, value in figures.items())
          + f", {len(problems)} problems")
    sys.stdout.flush()
    return 1 if problems else 0
