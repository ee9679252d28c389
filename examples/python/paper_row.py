"""Reproduces a row of the paper (section III): RBA against ITQ on the pixels of MNIST, without labels.

    bitpool data get mnist --dir data
    python examples/python/paper_row.py data/mnist

The codes are learned from the 60,000 training pictures, which are then searched; 1,000 test pictures are the queries.
The right answers are the 50 Euclidean neighbours of a query. docs/benchmarks.md has the figures that the program
measured the same way.
"""

# %% Arguments
from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import bitpool
from bitpool import metrics

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", type=Path, help="where train-images-idx3-ubyte and t10k-images-idx3-ubyte are")
parser.add_argument("--bits", type=int, nargs="+", default=[8, 16, 24, 32])
parser.add_argument("--methods", nargs="+", default=["RBA", "ITQ"], help="names of bitpool's classes")
parser.add_argument("--seeds", type=int, default=3)
parser.add_argument("--queries", type=int, default=1000)
parser.add_argument("--neighbours", type=int, default=50)
arguments = parser.parse_args()


# %% Data: views of the files, which are read as they are needed
def pixels(name: str) -> np.ndarray:
    pictures = bitpool.open_vectors(arguments.folder / name)
    return pictures.reshape(len(pictures), -1)


database = pixels("train-images-idx3-ubyte")
test = pixels("t10k-images-idx3-ubyte")
queries = test[np.random.default_rng(0).permutation(len(test))[: arguments.queries]]
print(f"{len(database)} pictures of {database.shape[1]} pixels, {len(queries)} queries")

# %% The right answers
relevant = metrics.euclidean_neighbours(database, queries, arguments.neighbours).ids


# %% The row: mean and spread of mAP over the seeds, in percent
def score(method: str, n_bits: int, seed: int) -> float:
    estimator = bitpool.METHODS[method.lower()](n_bits=n_bits, random_state=seed).fit(database)
    return 100 * metrics.mean_average_precision(
        estimator.transform(database), estimator.transform(queries), relevant=relevant, protocol="hashing", n_bits=n_bits
    )


print("| method | " + " | ".join(f"{n_bits} bits" for n_bits in arguments.bits) + " | seconds |")
print("|---|" + "---|" * (len(arguments.bits) + 1))
for method in arguments.methods:
    began = time.perf_counter()
    cells = []
    for n_bits in arguments.bits:
        scores = [score(method, n_bits, seed + 1) for seed in range(arguments.seeds)]
        cells.append(f"{np.mean(scores):.2f} ± {np.std(scores, ddof=1) if len(scores) > 1 else 0:.2f}")
    print(f"| {method} | " + " | ".join(cells) + f" | {time.perf_counter() - began:.1f} |")
