"""How long calls run: threads, seeds, and what is shown of their progress."""

from __future__ import annotations

import numbers
import sys
from typing import Any, Callable, NamedTuple, Optional, Union

import numpy as np

from . import _native


class Progress(NamedTuple):
    """How far one task of a call has come."""

    task: str  #: what is being done, such as "encoding"
    unit: str  #: what is counted, such as "vectors"
    done: int
    total: int  #: 0: not known
    ended: bool  #: the last word of the task
    note: str  #: how well it goes, such as "loss 3.21"


#: ``True`` shows progress; a function gets it, on the thread that made the call. What it raises ends the call.
ProgressOption = Union[None, bool, Callable[[Progress], Any]]


class _Shown:
    """Shows one task after the other. What is over before it could be shown is not shown: a job has many such parts."""

    def __init__(self) -> None:
        self._task = ""

    def __call__(self, update: Progress) -> None:
        if update.task != self._task:
            self.close()
            if update.ended:
                return
            self._task = update.task
            self.begin(update)
        self.advance(update)
        if update.ended:
            self.close()

    def begin(self, update: Progress) -> None:
        """Called before the first ``advance`` of a task."""

    def advance(self, update: Progress) -> None:
        """Shows how far the task has come."""

    def close(self) -> None:
        """Called when the task is over, or another one begins."""
        self._task = ""


class _Bar(_Shown):
    """By tqdm."""

    def __init__(self, make_bar: Callable[..., Any]) -> None:
        super().__init__()
        self._make_bar = make_bar
        self._bar: Any = None

    def begin(self, update: Progress) -> None:
        self._bar = self._make_bar(total=update.total or None, desc=update.task, unit=" " + update.unit)

    def advance(self, update: Progress) -> None:
        self._bar.update(update.done - self._bar.n)
        if update.note:
            self._bar.set_postfix_str(update.note)

    def close(self) -> None:
        super().close()
        if self._bar is not None:
            self._bar.close()
        self._bar = None


class _Line(_Shown):
    """By a line that is overwritten."""

    def advance(self, update: Progress) -> None:
        of = f" of {update.total}" if update.total else ""
        note = f", {update.note}" if update.note else ""
        print(f"\r{update.task}: {update.done}{of} {update.unit}{note}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._task:
            print(file=sys.stderr)
        super().close()


def _shown() -> _Shown:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Bar(tqdm)


def _receiver(progress: ProgressOption) -> Optional[Callable[..., None]]:
    if progress is None or progress is False:
        return None
    if progress is not True and not callable(progress):
        raise TypeError(f"progress: {progress!r}: expected True, None or a function")
    receive: Callable[[Progress], Any] = _shown()
    if callable(progress):
        receive = progress
    return lambda *fields: receive(Progress(*fields))


def whole_number(value: Any, argument: str, least: int, most: int = 2**63 - 1) -> int:
    """A whole number within bounds, where anything else has a message of its own."""
    if not isinstance(value, numbers.Integral) or not least <= int(value) <= most:
        upper = " or more" if most == 2**63 - 1 else f" to {most}"
        raise ValueError(f"{argument}: {value!r}: expected a whole number, {least}{upper}")
    return int(value)


def thread_count(n_threads: Optional[int]) -> int:
    """The number as the library takes it: 0 for all that the process may use (``None`` or −1 here)."""
    if n_threads is None or n_threads == -1:
        return 0
    if not isinstance(n_threads, numbers.Integral) or n_threads < 1:
        raise ValueError(f"n_threads: {n_threads!r}: expected 1 or more, or None for all")
    return int(n_threads)


def seed_of(random_state: Any) -> int:
    """The seed that a ``random_state`` of scikit-learn's kind stands for."""
    if isinstance(random_state, numbers.Integral):
        return whole_number(random_state, "random_state", 0, 2**64 - 1)
    if random_state is None:
        return int(np.random.randint(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    raise ValueError(f"random_state: {random_state!r}: expected a number, a generator of NumPy's or None")


def run(n_threads: Optional[int] = None, random_state: Any = 0, progress: ProgressOption = None) -> _native.Run:
    """What the library is told about the running of a call."""
    return _native.Run(thread_count(n_threads), seed_of(random_state), _receiver(progress))
