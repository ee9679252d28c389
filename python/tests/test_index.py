"""Search, against brute force in NumPy and against Faiss."""

from __future__ import annotations

import copy
import pickle
import threading
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import bitpool

BITS = 37


def random_codes(n: int, seed: int, n_bits: int = BITS) -> np.ndarray:
    return bitpool.pack(np.random.default_rng(seed).integers(0, 2, (n, n_bits)))


def brute_force(codes: np.ndarray, ids: np.ndarray, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """By (distance, id), padded."""
    distances = np.unpackbits(queries[:, None] ^ codes[None], axis=2).sum(axis=2)
    order = [np.lexsort((ids, row))[:k] for row in distances]
    padded_ids = np.full((len(queries), k), -1)
    padded = np.full((len(queries), k), 2**31 - 1)
    for i, row in enumerate(order):
        padded_ids[i, : len(row)] = ids[row]
        padded[i, : len(row)] = distances[i, row]
    return padded, padded_ids


@pytest.mark.parametrize("layout", ["auto", "flat", "mih"])
@pytest.mark.parametrize("n_bits", [5, 37, 64, 256])
def test_finds_what_brute_force_finds(layout: str, n_bits: int) -> None:
    codes, queries = random_codes(1500, 1, n_bits), random_codes(9, 2, n_bits)
    index = bitpool.Index(n_bits, layout=layout)
    np.testing.assert_array_equal(index.add(codes), np.arange(1500))
    found = index.search(queries, k=12)
    distances, ids = brute_force(codes, np.arange(1500), queries, 12)
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.ids, ids)
    assert found.distances.dtype == np.int32 and found.ids.dtype == np.int64
    lims, near, near_ids = index.range_search(queries, radius=n_bits // 3)
    for q in range(len(queries)):
        expected = brute_force(codes, np.arange(1500), queries[q : q + 1], 1500)
        within = expected[0][0] <= n_bits // 3
        np.testing.assert_array_equal(near[lims[q] : lims[q + 1]], expected[0][0][within])
        np.testing.assert_array_equal(near_ids[lims[q] : lims[q + 1]], expected[1][0][within])


def test_fewer_codes_than_asked_for_are_padded_as_faiss_does() -> None:
    index = bitpool.Index(BITS)
    distances, ids = index.search(random_codes(2, 3), k=4)
    assert (ids == -1).all() and (distances == 2**31 - 1).all()
    index.add(random_codes(3, 4))
    distances, ids = index.search(random_codes(2, 3), k=4)
    assert (ids[:, 3] == -1).all() and sorted(ids[0, :3]) == [0, 1, 2]
    scores, ids = index.search_real(np.ones((2, BITS)), k=4)
    assert (ids[:, 3] == -1).all() and np.isneginf(scores[:, 3]).all()


def test_one_query_gives_one_row() -> None:
    codes = random_codes(50, 5)
    index = bitpool.Index(BITS)
    index.add(codes)
    distances, ids = index.search(codes[7], k=3)
    assert distances.shape == ids.shape == (3,)
    assert ids[0] == 7 and distances[0] == 0
    assert index.search_real(np.ones(BITS), k=2).ids.shape == (2,)


def test_real_queries_are_scored(rng: np.random.Generator) -> None:
    codes = random_codes(400, 6)
    weights = rng.normal(size=(4, BITS)).astype(np.float32)
    index = bitpool.Index(BITS)
    index.add(codes)
    scores, ids = index.search_real(weights, k=5)
    all_scores = weights.astype(np.float64) @ (bitpool.unpack(codes, BITS).astype(np.float64) * 2 - 1).T
    order = np.argsort(-all_scores, axis=1)[:, :5]
    np.testing.assert_array_equal(ids, order)
    np.testing.assert_allclose(scores, np.take_along_axis(all_scores, order, 1))
    np.testing.assert_array_equal(index.search_real(weights.astype("f8")[:, ::-1][:, ::-1], k=5).ids, order)


def test_among_searches_these_ids_alone() -> None:
    codes, queries = random_codes(300, 7), random_codes(4, 8)
    index = bitpool.Index(BITS)
    index.add(codes, ids=np.arange(300) * 3)
    among = np.array([30, 9, 9, 600, 7, 899, 897])  # 7 and 899 are not there
    found = index.search(queries, k=5, among=among)
    there = np.array([9, 30, 600, 897])
    distances, ids = brute_force(codes[there // 3], there, queries, 5)
    np.testing.assert_array_equal(found.ids, ids)
    np.testing.assert_array_equal(found.distances, distances)
    assert (index.search(queries, k=2, among=[]).ids == -1).all()
    assert set(index.search_real(np.ones(BITS), 4, among=among).ids) == set(there)


def test_ids_are_never_given_twice(tmp_path: Path) -> None:
    index = bitpool.Index(BITS)
    index.add(random_codes(2, 9), ids=[7, 100])
    assert index.remove([100, 5]) == 1
    np.testing.assert_array_equal(index.add(random_codes(2, 10)), [101, 102])
    assert index.remove(102) == 1
    index.save(tmp_path / "codes.bpi")
    for again in (
        bitpool.Index.open(tmp_path / "codes.bpi"),
        bitpool.Index.load(tmp_path / "codes.bpi"),
        bitpool.Index.from_bytes(index.to_bytes()),
        pickle.loads(pickle.dumps(index)),
        copy.copy(index),
        copy.deepcopy(index),
    ):
        assert len(again) == 2 and 102 not in again and 101 in again
        np.testing.assert_array_equal(again.add(random_codes(1, 11)), [103])
    assert len(index) == 2


def test_nothing_is_added_where_an_id_is_wrong() -> None:
    index = bitpool.Index(BITS)
    index.add(random_codes(2, 12), ids=[1, 2])
    for ids, message in (([3, 2], "id 2 is in the index already"), ([5, 5], "id 5 appears twice"), ([-1, 4], "id -1")):
        with pytest.raises(ValueError, match="ids: " + message):
            index.add(random_codes(2, 13), ids=ids)
    with pytest.raises(ValueError, match="3 ids for 2 codes"):
        index.add(random_codes(2, 13), ids=[3, 4, 5])
    with pytest.raises(ValueError, match="ids: has dtype float64"):
        index.add(random_codes(2, 13), ids=[0.5, 1.5])
    assert len(index) == 2


def test_replace_and_reconstruct() -> None:
    codes, other = random_codes(10, 14), random_codes(2, 15)
    index = bitpool.Index(BITS)
    index.add(codes)
    index.replace([4, 20], other)
    np.testing.assert_array_equal(index.reconstruct([20, 0, 4]), [other[1], codes[0], other[0]])
    np.testing.assert_array_equal(index.reconstruct(9), codes[9])
    np.testing.assert_array_equal(index.add(codes[:1]), [21])
    with pytest.raises(KeyError):
        index.reconstruct([0, 11])


@pytest.mark.parametrize("radius", [0, 3, 8])
def test_pairs_and_groups_are_those_of_brute_force(radius: int) -> None:
    rng = np.random.default_rng(16)
    centres = rng.integers(0, 2, (40, 48))
    bits = centres[rng.integers(0, 40, 300)] ^ (rng.random((300, 48)) < 0.04)
    codes = bitpool.pack(bits)
    index = bitpool.Index(48)
    index.add(codes, ids=np.arange(300) + 5)
    distances = np.unpackbits(codes[:, None] ^ codes[None], axis=2).sum(axis=2)
    expected = np.argwhere(np.triu(distances <= radius, 1))
    pairs = index.pairs(radius)
    np.testing.assert_array_equal(np.stack([pairs.first, pairs.second], 1), expected + 5)
    np.testing.assert_array_equal(pairs.distances, distances[tuple(expected.T)])
    joined = np.arange(300)
    for a, b in expected:
        joined[joined == joined[b]] = joined[a]
    groups = {tuple(np.flatnonzero(joined == one) + 5) for one in np.unique(joined)}
    assert {tuple(group) for group in index.groups(radius)} == {group for group in groups if len(group) > 1}


@pytest.mark.parametrize("layout", ["flat", "mih"])
def test_saved_opened_and_pickled_answer_alike(tmp_path: Path, layout: str) -> None:
    codes, queries = random_codes(3000, 17), random_codes(5, 18)
    index = bitpool.Index(BITS, layout)
    index.add(codes)
    index.remove(np.arange(0, 3000, 7))
    index.save(tmp_path / "codes.bpi")
    assert (tmp_path / "codes.bpi").read_bytes() == index.to_bytes()
    expected = index.search(queries, 20)
    for again in (
        bitpool.Index.open(tmp_path / "codes.bpi"),
        bitpool.Index.load(str(tmp_path / "codes.bpi")),
        pickle.loads(pickle.dumps(index)),
        copy.deepcopy(index),
    ):
        found = again.search(queries, 20)
        np.testing.assert_array_equal(found.ids, expected.ids)
        np.testing.assert_array_equal(found.distances, expected.distances)
        assert again.layout == "flat" or layout == "mih"  # few codes are scanned in any layout
        assert repr(again) == f"Index(n_bits=37, layout='{again.layout}'): {len(index)} codes"


def test_a_copy_goes_its_own_way() -> None:
    index = bitpool.Index(BITS)
    index.add(random_codes(10, 19))
    other = copy.copy(index)
    other.remove(3)
    index.add(random_codes(5, 20))
    assert len(other) == 9 and len(index) == 15 and 3 in index


def test_searching_while_another_thread_adds() -> None:
    first = random_codes(1, 21)
    index = bitpool.Index(BITS)
    index.add(first)
    failures: list[Any] = []
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            distances, ids = index.search(first, k=1)
            if ids[0, 0] != 0 or distances[0, 0] != 0:
                failures.append((distances, ids))

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    adders = [threading.Thread(target=lambda s=s: [index.add(random_codes(20, 100 + s)) for _ in range(40)]) for s in (0, 1)]
    for thread in adders:
        thread.start()
    for thread in adders:
        thread.join()
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(index) == 1 + 2 * 40 * 20


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="codes of 0 bits: expected 1 to 4096"):
        bitpool.Index(0)
    with pytest.raises(ValueError, match='layout: "tree"'):
        bitpool.Index(8, "tree")
    index = bitpool.Index(BITS)
    with pytest.raises(ValueError, match=r"q: has the shape \(1, 4\): expected \(n, 5\)"):
        index.search(np.zeros((1, 4), np.uint8), 1)
    with pytest.raises(ValueError, match="k: 0"):
        index.search(np.zeros((1, 5), np.uint8), 0)
    with pytest.raises(ValueError, match=r"h\[0, 3\] is NaN"):
        index.search_real(np.where(np.arange(BITS) == 3, np.nan, 1), 1)
    with pytest.raises(ValueError, match="n_threads: 0"):
        index.search(np.zeros((1, 5), np.uint8), 1, n_threads=0)
    with pytest.raises(FileNotFoundError, match="nothing.bpi") as raised:
        bitpool.Index.open(tmp_path / "nothing.bpi")
    assert isinstance(raised.value, bitpool.Error) and raised.value.code == "not found"
    (tmp_path / "text.bpi").write_text("this is no index")
    with pytest.raises(bitpool.Error) as raised:
        bitpool.Index.open(tmp_path / "text.bpi")
    assert raised.value.code == "corrupt" and "text.bpi" in str(raised.value)
    with pytest.raises(OSError):
        index.save(tmp_path / "no folder" / "codes.bpi")


def test_a_damaged_file_is_found(tmp_path: Path) -> None:
    index = bitpool.Index(64)
    index.add(random_codes(5000, 22, 64))
    data = bytearray(index.to_bytes())
    data[5000] ^= 1
    with pytest.raises(bitpool.Error) as raised:
        bitpool.Index.from_bytes(bytes(data))
    assert raised.value.code == "corrupt"


def test_the_program_finds_the_same(tmp_path: Path, program: Callable[..., str]) -> None:
    codes, queries = random_codes(2000, 23, 48), random_codes(20, 24, 48)
    np.save(tmp_path / "codes.npy", codes)
    np.save(tmp_path / "queries.npy", queries)
    program("search", "--codes", tmp_path / "codes.npy", "--queries", tmp_path / "queries.npy", "-k", 15, "--out", tmp_path / "found")
    index = bitpool.Index(48)
    index.add(codes)
    distances, ids = index.search(queries, 15)
    np.testing.assert_array_equal(np.load(tmp_path / "found.ids.npy"), ids)
    np.testing.assert_array_equal(np.load(tmp_path / "found.distances.npy"), distances)


def test_faiss_finds_the_same_distances() -> None:
    faiss = pytest.importorskip("faiss")
    codes, queries = random_codes(4000, 25, 128), random_codes(30, 26, 128)
    peer = faiss.IndexBinaryFlat(128)
    peer.add(codes)
    expected, peer_ids = peer.search(queries, 25)
    index = bitpool.Index(128)
    index.add(codes)
    distances, ids = index.search(queries, 25)
    np.testing.assert_array_equal(distances, expected)
    strictly_nearer = distances < distances[:, -1:]  # among equal distances Faiss takes any id
    for ours, theirs, sure in zip(ids, peer_ids, strictly_nearer):
        assert set(ours[sure]) == set(theirs[sure])
    few = faiss.IndexBinaryFlat(128)
    few.add(codes[:2])
    index = bitpool.Index(128)
    index.add(codes[:2])
    for ours, theirs in zip(index.search(queries, 4), few.search(queries, 4)):
        np.testing.assert_array_equal(ours[:, 2:], theirs[:, 2:])  # the padding
