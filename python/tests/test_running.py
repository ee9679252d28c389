"""How long calls run: progress, Ctrl-C, threads, forks, memory."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import bitpool
from bitpool import _running
from conftest import needs_plain_memory


@pytest.fixture(scope="module")
def big() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(20000, 64)).astype(np.float32)


def test_a_function_is_told_of_progress_on_this_thread(big: np.ndarray) -> None:
    told: list[tuple[bitpool.Progress, threading.Thread]] = []
    rba = bitpool.RBA(n_bits=16, iterations=5)
    rba.fit(big, progress=lambda update: told.append((update, threading.current_thread())))
    assert told and all(thread is threading.current_thread() for _, thread in told)
    last = told[-1][0]
    assert last.ended and last.task and last.unit and last.done <= (last.total or last.done)
    told.clear()
    rba.transform(big, progress=lambda update: told.append((update, threading.current_thread())))
    assert told[-1][0][:5] == ("encoding", "vectors", 20000, 20000, True)


UPDATES = [
    bitpool.Progress("reading", "files", 3, 3, True, ""),  # over before it could be shown
    bitpool.Progress("learning", "steps", 1, 4, False, "loss 2"),
    bitpool.Progress("learning", "steps", 4, 4, True, "loss 1"),
    bitpool.Progress("finding", "pictures", 7, 0, False, ""),
    bitpool.Progress("writing", "files", 1, 2, False, ""),
]


def test_progress_is_shown_by_tqdm_or_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tqdm")
    show = _running._shown()
    assert isinstance(show, _running._Bar)
    for update in UPDATES:
        show(update)
    show.close()
    shown = capsys.readouterr().err
    assert "reading" not in shown and "learning" in shown and "4/4" in shown and "loss 1" in shown and "7 pictures" in shown
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    show = _running._shown()
    for update in UPDATES:
        show(update)
    assert capsys.readouterr().err == (
        "\rlearning: 1 of 4 steps, loss 2\rlearning: 4 of 4 steps, loss 1\n\rfinding: 7 pictures\n\rwriting: 1 of 2 files"
    )


def test_progress_can_be_asked_for(big: np.ndarray) -> None:
    lsh = bitpool.LSH(n_bits=8).fit(big, progress=True)
    assert lsh.transform(big, progress=False).shape == lsh.transform(big, progress=True).shape
    with pytest.raises(TypeError, match="progress"):
        lsh.transform(big, progress="yes")


def test_what_a_function_raises_ends_the_call(big: np.ndarray) -> None:
    def refuse(update: bitpool.Progress) -> None:
        if update.task == "RBA" and update.done >= 3:
            raise ZeroDivisionError(update.task)

    rba = bitpool.RBA(n_bits=32, iterations=100000)
    with pytest.raises(ZeroDivisionError):
        rba.fit(big, progress=refuse)
    assert rba.transform(big).shape == (20000, 4)  # what it had learned by then


INTERRUPTED = """
import os, signal, threading, time
import numpy as np, bitpool
X = np.random.default_rng(0).normal(size=(20000, 64)).astype(np.float32)
estimator = {estimator}
signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background begins without it
reached, pressed = threading.Event(), []
def press():
    reached.wait()
    pressed.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
def watch(update):
    if update.task == "{task}" and update.done >= 3: reached.set()
threading.Thread(target=press, daemon=True).start()
try:
    estimator.fit(X, progress=watch)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - pressed[0])
    print(estimator.transform(X).shape if hasattr(estimator, "model_") else None)
"""


@pytest.mark.parametrize(
    ("estimator", "task", "kept"),
    [
        ("bitpool.RBA(n_bits=32, iterations=10**6)", "RBA", "(20000, 4)"),
        ("bitpool.KMH(n_bits=64, iterations=10**6)", "k-means hashing", "None"),  # has no model before its end
    ],
)
def test_ctrl_c_ends_a_training(estimator: str, task: str, kept: str) -> None:
    script = INTERRUPTED.format(estimator=estimator, task=task)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    word, seconds, shape = done.stdout.split(maxsplit=2)
    assert word == "interrupted" and shape.strip() == kept
    assert float(seconds) < 10  # within a second where the machine is not busy


def test_python_goes_on_meanwhile(big: np.ndarray) -> None:
    counted = 0
    stop = threading.Event()

    def train() -> None:
        bitpool.RBA(n_bits=32, iterations=20, n_threads=1).fit(big)
        stop.set()

    thread = threading.Thread(target=train)
    thread.start()
    while not stop.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    assert counted > 20


def test_many_threads_use_one_model_and_one_index(big: np.ndarray) -> None:
    itq = bitpool.ITQ(n_bits=32, iterations=5).fit(big[:5000])
    expected = itq.transform(big)
    index = bitpool.Index(32)
    index.add(expected)
    nearest = index.search(expected[:50], 3)
    wrong: list[Any] = []

    def use() -> None:
        for _ in range(3):
            if not np.array_equal(itq.transform(big), expected):
                wrong.append("transform")
            if not np.array_equal(index.search(expected[:50], 3).ids, nearest.ids):
                wrong.append("search")

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def _work_in_child(X: np.ndarray, itq: bitpool.ITQ, index: bitpool.Index, mapped: bitpool.Index, results: Any) -> None:
    codes = itq.transform(X)
    found = index.search(codes[:5], 2).ids
    index.add(codes)
    fresh = bitpool.ITQ(n_bits=16, iterations=3).fit(X)
    try:
        mapped.search(codes[:1], 1)
        refusal = ""
    except bitpool.Error as error:
        refusal = str(error)
    results.put((codes, found, fresh.transform(X), len(index), refusal))


def test_a_forked_child_works(big: np.ndarray, tmp_path: Any) -> None:
    X = big[:3000]
    itq = bitpool.ITQ(n_bits=16, iterations=3).fit(X)
    codes = itq.transform(X)
    index = bitpool.Index(16)
    index.add(codes)
    index.save(tmp_path / "codes.bpi")
    mapped = bitpool.Index.open(tmp_path / "codes.bpi")
    expected = index.search(codes[:5], 2).ids
    mapped.search(codes[:5], 2)
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    child = fork.Process(target=_work_in_child, args=(X, itq, index, mapped, results))
    child.start()
    found_codes, found, fresh, size, refusal = results.get(timeout=60)
    child.join(timeout=60)
    assert child.exitcode == 0
    np.testing.assert_array_equal(found_codes, codes)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(fresh, codes)
    assert size == 6000 and len(index) == 3000
    assert "open it again" in refusal


def test_a_forked_child_ends(tmp_path: Any) -> None:
    script = f"""
import os, sys
import numpy as np, bitpool
X = np.random.default_rng(0).normal(size=(5000, 32))
itq = bitpool.ITQ(n_bits=16, iterations=3).fit(X)
index = bitpool.Index(16)
index.add(itq.transform(X))
index.save({str(tmp_path / "codes.bpi")!r})
mapped = bitpool.Index.open({str(tmp_path / "codes.bpi")!r})
mapped.search(itq.transform(X[:1]), 1)
child = os.fork()
if child == 0:
    bitpool.Index(16).add(itq.transform(X))
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "3"


def _resident_kib() -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


@needs_plain_memory
def test_a_thousand_fits_leave_nothing_behind() -> None:
    X = np.random.default_rng(0).normal(size=(60, 8))
    y = np.arange(60) % 3

    def fit_all(times: int) -> None:
        for i in range(times):
            estimator = (bitpool.PCAH, bitpool.ITQ, bitpool.LSH, bitpool.CCAITQ)[i % 4](n_bits=4, n_threads=1)
            codes = estimator.fit(X, y).transform(X)
            index = bitpool.Index(4)
            index.add(codes)
            index.search(codes, 2)
            index.remove([0])
            with pytest.raises(ValueError):
                estimator.transform(X[:, :3])

    fit_all(200)
    before = _resident_kib()
    fit_all(1000)
    assert _resident_kib() - before < 8000


def test_arrays_keep_their_memory(big: np.ndarray) -> None:
    """Returned arrays own what they show, whatever becomes of the objects."""
    codes = bitpool.ITQ(n_bits=16, iterations=2).fit(big[:1000]).project(big[:1000])
    total = float(codes.sum())
    bitpool.ITQ(n_bits=16, iterations=2).fit(big[1000:2000]).project(big[1000:2000])
    assert float(codes.sum()) == total
    references = sys.getrefcount(big)
    bitpool.LSH(n_bits=8).fit(big).transform(big)
    assert sys.getrefcount(big) == references


def test_the_threads_of_numpy_are_not_touched(big: np.ndarray) -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def blas() -> Any:
        return [(one["filepath"], one["num_threads"]) for one in threadpoolctl.threadpool_info()]

    big @ big[0]
    before = blas()
    bitpool.ITQ(n_bits=16, iterations=2, n_threads=1).fit(big)
    assert blas() == before and not any("bitpool" in path for path, _ in before)


def test_the_number_of_threads_has_no_say_in_results(big: np.ndarray) -> None:
    codes = [bitpool.ITQ(n_bits=16, iterations=3, n_threads=n).fit(big).transform(big) for n in (1, 2, 5)]
    assert all(np.array_equal(codes[0], one) for one in codes[1:])
