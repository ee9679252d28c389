"""What Python costs, and how Bitpool compares with Faiss and hnswlib in one script.

    ninja -C build/release python_border
    build/venv/bin/python benchmarks/python_peers.py --border build/release/python_border
    build/venv/bin/python benchmarks/python_peers.py --vectors 100000 --codes 1000000 --peer-codes 100000    # a look

Prints two tables. The first is the border: calls from Python beside the same calls from C++, in wall-clock time and in
processor time, which other work on the machine disturbs less. The second is one search in several libraries, one thread each:
queries per second, share of the true neighbours' distances found, memory.

hnswlib has no Hamming distance. As its users do, bits go in as numbers 0 and 1, whose squared Euclidean distance is the
number of bits that differ.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np

import bitpool

BITS = 64


def least(times: int, call: Callable[[], Any]) -> tuple[float, float]:
    """The least wall-clock seconds and the least processor seconds of several calls."""
    wall = processor = float("inf")
    for _ in range(times):
        began, began_processor = time.perf_counter(), time.process_time()
        call()
        processor = min(processor, time.process_time() - began_processor)
        wall = min(wall, time.perf_counter() - began)
    return wall, processor


def clustered_codes(n: int, seed: int) -> np.ndarray:
    """Codes as learned ones are: many near each other."""
    centres = np.random.default_rng(0).integers(0, 256, (20000, BITS // 8), np.uint8)
    rng = np.random.default_rng(seed)
    noise = np.bitwise_and.reduce(rng.integers(0, 256, (4, n, BITS // 8), np.uint8))  # every 16th bit
    return centres[rng.integers(0, len(centres), n)] ^ noise


def resident_mib() -> float:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def beside(python: tuple[float, float], cpp: tuple[float, float]) -> str:
    wall, processor = (100 * (ours / theirs - 1) for ours, theirs in zip(python, cpp))
    return f"{python[0]:.3f} / {python[1]:.3f} | {cpp[0]:.3f} / {cpp[1]:.3f} | {wall:+.1f} % / {processor:+.1f} %"


def from_cpp(program: Path, *arguments: Any) -> tuple[float, float]:
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, check=True)
    wall, processor = map(float, done.stdout.split())
    return wall, processor


def border(program: Path, vectors: int, codes: int, folder: Path) -> None:
    """The table of the border."""
    print("\n| call | from Python, s (clock / processors) | from C++ | difference | target |\n|---|---|---|---|---|")
    X = np.random.default_rng(0).normal(size=(vectors, 128)).astype(np.float32)
    itq = bitpool.ITQ(n_bits=BITS, iterations=5).fit(X[:20000])
    itq.save(folder / "itq.bpm")
    np.save(folder / "x.npy", X)
    python = least(5, lambda: itq.transform(X))
    cpp = from_cpp(program, "encode", folder / "itq.bpm", folder / "x.npy", 5)
    print(f"| transform of {vectors:,} × 128 | {beside(python, cpp)} | ≤ 3 % |", flush=True)
    del X
    (folder / "x.npy").unlink()
    index = bitpool.Index(BITS, "flat")
    index.add(clustered_codes(codes, 1))
    index.save(folder / "codes.bpi")
    index = bitpool.Index.open(folder / "codes.bpi")
    queries = clustered_codes(1000, 2)
    np.save(folder / "q.npy", queries)
    index.search(queries, 1)
    python = least(3, lambda: index.search(queries, 10))
    cpp = from_cpp(program, "search", folder / "codes.bpi", folder / "q.npy", BITS, 10, 3)
    print(f"| search of 1,000 queries in {codes:,} codes | {beside(python, cpp)} | ≤ 3 % |", flush=True)


def one_query(program: Path, codes: int, folder: Path) -> None:
    """The cost of a single query beyond the search itself."""
    index = bitpool.Index(BITS, "flat")
    index.add(clustered_codes(codes, 1))
    index.save(folder / "million.bpi")
    query = clustered_codes(1, 3)
    np.save(folder / "q.npy", query)
    wall, processor = least(300, lambda: index.search(query, 10, n_threads=1))
    cpp = from_cpp(program, "search", folder / "million.bpi", folder / "q.npy", BITS, 10, 300)
    empty = bitpool.Index(BITS)
    nothing, _ = least(2000, lambda: empty.search(query, 10, n_threads=1))
    print(
        f"\none query in {codes:,} codes, one thread: {1e6 * wall:.1f} µs from Python, {1e6 * cpp[0]:.1f} µs from C++ with all "
        f"threads; a search that finds nothing to search costs {1e6 * nothing:.1f} µs (target: ≤ 30 µs beyond the search)"
    )


def two_threads(codes: int, seconds: float) -> None:
    """Queries per second of one and of two Python threads, each search on one thread."""
    index = bitpool.Index(BITS, "flat")
    index.add(clustered_codes(codes, 1))
    queries = clustered_codes(64, 4)

    def rate(threads: int) -> float:
        counts = [0] * threads
        end = time.perf_counter() + seconds

        def search(i: int) -> None:
            while time.perf_counter() < end:
                index.search(queries, 10, n_threads=1)
                counts[i] += len(queries)

        workers = [threading.Thread(target=search, args=(i,)) for i in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return sum(counts) / seconds

    one, two = (max(rate(n) for _ in range(3)) for n in (1, 2))
    print(f"\nPython threads: one {one:.0f} queries/s, two {two:.0f} queries/s, {two / one:.2f} times (target: ≥ 1.8)")


def peers(codes: int) -> None:
    """The table of libraries."""
    database, queries = clustered_codes(codes, 1), clustered_codes(200, 5)
    print(f"\n{codes:,} codes of {BITS} bits, 200 queries, the 10 nearest, one thread")
    print("| library | building, s | queries/s | recall | memory, MiB |\n|---|---|---|---|---|")
    truth = None
    for name, build in (("Bitpool, flat", bitpool_flat), ("Bitpool, auto", bitpool_auto), *other_peers()):
        before, began = resident_mib(), time.perf_counter()
        search = build(database)
        building, memory = time.perf_counter() - began, resident_mib() - before
        distances = search(queries)
        truth = distances if truth is None else truth
        recall = (np.sort(distances, axis=1) <= truth[:, -1:]).mean()
        wall, _ = least(5, lambda: search(queries))
        print(f"| {name} | {building:.2f} | {len(queries) / wall:.0f} | {100 * recall:.1f} % | {memory:.0f} |", flush=True)


def bitpool_flat(database: np.ndarray, layout: str = "flat") -> Callable[[np.ndarray], np.ndarray]:
    index = bitpool.Index(BITS, layout)
    index.add(database)
    return lambda queries: index.search(queries, 10, n_threads=1).distances


def bitpool_auto(database: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return bitpool_flat(database, "auto")


def other_peers() -> list[tuple[str, Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]]]]:
    found = []
    try:
        import faiss

        def faiss_flat(database: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
            faiss.omp_set_num_threads(1)
            index = faiss.IndexBinaryFlat(BITS)
            index.add(database)
            return lambda queries: index.search(queries, 10)[0]

        def faiss_hnsw(database: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
            faiss.omp_set_num_threads(1)
            index = faiss.IndexBinaryHNSW(BITS, 16)
            index.add(database)
            return lambda queries: index.search(queries, 10)[0]

        found += [("Faiss, IndexBinaryFlat", faiss_flat), ("Faiss, IndexBinaryHNSW", faiss_hnsw)]
    except ImportError:
        print("(python3-faiss is not installed)")
    try:
        import hnswlib

        def hnsw(database: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
            index = hnswlib.Index("l2", BITS)
            index.init_index(len(database), M=16, ef_construction=100, random_seed=1)
            index.set_num_threads(1)
            index.add_items(bitpool.unpack(database).astype(np.float32), num_threads=1)
            index.set_ef(64)
            return lambda queries: index.knn_query(
                bitpool.unpack(queries).astype(np.float32), k=10, num_threads=1
            )[1].astype(np.int32)

        found.append(("hnswlib, bits as numbers", hnsw))
    except ImportError:
        print("(python3-hnswlib is not installed)")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--border", type=Path, help="the program python_border; without it, the peers alone")
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--codes", type=int, default=10_000_000)
    parser.add_argument("--peer-codes", type=int, default=1_000_000)
    arguments = parser.parse_args()
    print(f"bitpool {bitpool.__version__}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    if arguments.border:
        with tempfile.TemporaryDirectory() as folder:
            border(arguments.border, arguments.vectors, arguments.codes, Path(folder))
            one_query(arguments.border, min(arguments.codes, 1_000_000), Path(folder))
    two_threads(min(arguments.codes, 1_000_000), 2.0)
    peers(arguments.peer_codes)


if __name__ == "__main__":
    main()
