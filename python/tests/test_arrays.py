"""Arrays of every type, order and stride, against NumPy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import bitpool
from conftest import needs_plain_memory

DTYPES = ["f2", "f4", "f8", "g", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", ">f2", ">f4", ">f8", ">i2", ">u8"]
LAYOUTS = {
    "C": lambda x: np.ascontiguousarray(x),
    "F": lambda x: np.asfortranarray(x),
    "every second row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every second column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "columns of more": lambda x: np.concatenate([x, x], axis=1)[:, : x.shape[1]],
    "unaligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
}


@pytest.fixture(scope="module")
def itq() -> bitpool.ITQ:
    rng = np.random.default_rng(0)
    return bitpool.ITQ(n_bits=9).fit(rng.normal(size=(300, 11)) * 20 + 30)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_array_gives_the_codes_of_its_numbers(itq: bitpool.ITQ, dtype: str, layout: str) -> None:
    rng = np.random.default_rng(5)
    X = LAYOUTS[layout]((rng.random((73, 11)) * 60).astype(dtype))
    X.flags.writeable = False
    projected = X.astype(np.float64) @ itq.encoder_weights_.astype(np.float64).T + itq.encoder_bias_
    assert np.abs(projected).min() > 1e-6  # no bit depends on rounding
    np.testing.assert_array_equal(itq.transform(X), np.packbits(projected >= 0, axis=1, bitorder="little"))
    np.testing.assert_allclose(itq.project(X), projected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("shape", [(1, 11), (2, 11), (600, 11)])
def test_small_and_broadcast_arrays(itq: bitpool.ITQ, shape: tuple[int, int]) -> None:
    row = np.linspace(0, 60, 11, dtype=np.float32)
    X = np.broadcast_to(row, shape)
    np.testing.assert_array_equal(itq.transform(X), itq.transform(np.array(X)))


def test_one_column() -> None:
    X = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    lsh = bitpool.LSH(n_bits=4).fit(X[:, :1])
    np.testing.assert_array_equal(lsh.transform(X[:, :1]), lsh.transform(np.array(X[:, :1])))


def test_random_slices_of_random_arrays(itq: bitpool.ITQ) -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        whole = (rng.random((int(rng.integers(1, 80)), 40)) * 60).astype(rng.choice(["f2", "f4", "f8", "i4"]))
        step = int(rng.choice([-3, -2, -1, 1, 2, 3]))
        X = whole[:: int(rng.choice([-2, -1, 1, 2]))]
        X = X[:, ::step][:, :11]
        np.testing.assert_array_equal(itq.transform(X), itq.transform(np.array(X, np.float32, order="C")))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_the_number_that_is_not_finite_is_named(itq: bitpool.ITQ, bad: float, dtype: str) -> None:
    X = np.ones((40, 11), dtype)
    X[17, 5] = bad
    for call in (itq.transform, itq.project, bitpool.ITQ(n_bits=4).fit):
        with pytest.raises(ValueError, match=r"X\[17, 5\] is (NaN|infinite)") as raised:
            call(X)
        assert raised.value.code == "invalid argument"


def test_a_number_too_large_for_single_precision_is_named(itq: bitpool.ITQ) -> None:
    X = np.ones((40, 11))
    X[3, 2] = 1e300
    with pytest.raises(ValueError, match=r"X\[3, 2\] is infinite"):
        itq.transform(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(11), "1D array"),
        (np.ones((2, 3, 11)), "3D array"),
        (np.ones((2, 10)), "X has 10 features, but ITQ is expecting 11"),
        (np.ones((0, 11)), "0 sample"),
        (np.ones((2, 0)), "0 feature"),
        (np.ones((2, 11), complex), "Complex"),
        ([["a"] * 11], "could not convert"),
        (np.zeros((2, 11), "M8[s]"), "X: has dtype datetime64"),
    ],
)
def test_wrong_arrays_are_refused(itq: bitpool.ITQ, X: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        itq.transform(X)


def test_lists_will_do(itq: bitpool.ITQ) -> None:
    X = np.arange(22.0).reshape(2, 11)
    np.testing.assert_array_equal(itq.transform(X.tolist()), itq.transform(X))


@pytest.mark.parametrize("n_bits", [1, 7, 8, 9, 64, 100])
def test_pack_and_unpack_are_those_of_numpy(n_bits: int, rng: np.random.Generator) -> None:
    bits = rng.integers(0, 2, (57, n_bits))
    packed = np.packbits(bits.astype(np.uint8), axis=1, bitorder="little")
    for given in (bits, bits.astype(bool), bits * 2 - 1, bits.astype("f2"), np.asfortranarray(bits)):
        np.testing.assert_array_equal(bitpool.pack(given), packed)
    np.testing.assert_array_equal(bitpool.unpack(packed, n_bits), bits)


def test_hamming_is_that_of_numpy(rng: np.random.Generator) -> None:
    a, b = rng.integers(0, 256, (31, 6), np.uint8), rng.integers(0, 256, (17, 6), np.uint8)
    expected = np.unpackbits(a[:, None] ^ b[None], axis=2).sum(axis=2)
    np.testing.assert_array_equal(bitpool.hamming(a, b), expected)
    np.testing.assert_array_equal(bitpool.hamming(a[::-1, ::-1], b[:, ::-1].astype(np.int64)), expected[::-1])


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (np.zeros((3, 3), np.uint8), r"codes: has the shape \(3, 3\): expected \(n, 2\), packed codes of 12 bits"),
        (np.zeros(2, np.uint8), r"shape \(2,?\)"),
        (np.zeros((3, 2)), "has dtype float64: expected whole numbers"),
        (np.full((3, 2), 256), "has the value 256"),
        (np.full((3, 2), 255, np.uint8), "code 0: a bit beyond the length of 12 is set"),
    ],
)
def test_wrong_codes_are_refused(codes: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bitpool.unpack(codes, 12)


@needs_plain_memory
def test_contiguous_single_precision_is_not_copied() -> None:
    """The most memory that transform of 128 MB ever takes is far below another 128 MB."""
    script = """
import numpy as np, bitpool
def peak(): return int(next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1])
X = np.ones((262144, 128), np.float32)
X[:, 0] += np.arange(len(X)) % 7
itq = bitpool.LSH(n_bits=16).fit(X[:1000])
itq.transform(X[:1000])
open("/proc/self/clear_refs", "w").write("5")
before = peak()
itq.transform(X)
print(peak() - before)
itq.transform(X.astype(np.float64))
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    single, double = map(int, done.stdout.split())  # KiB
    assert single < 20_000
    assert 262144 <= double < 262144 + 20_000  # the test's own array; the conversion goes block by block
