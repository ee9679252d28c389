"""Local features of a set, by a network on a GPU, in the files that `bitpool data extract` would make.

    python3 local_features.py --dataset cifar10 --network resnet50 --data DATA --weights WEIGHTS --key KEY \
        --program bitpool [--views 8 --view-pictures 5000]

Describing 100,000 pictures takes hours on a few cores and a minute here. The features are the maps that the program
takes by itself (`docs/networks.md`), each place of them a feature, and lie beside the set, so that experiments and
`reproduce` find them. KEY is part of the names of the files that `bitpool data extract DATASET --network NETWORK
--limit 1` makes. Existing files are kept. The views are drawn by `data.view`, not by the program's own generator.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import pathlib
import subprocess
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from data import Pictures, load, network_input, view
from networks import BODIES, load_body

PICTURES_PER_FILE = 1000
PICTURES_AT_ONCE = 100


@torch.no_grad()
def describe(body: nn.Module, inputs: Tensor) -> np.ndarray:
    """Pictures × places × maps, the places row by row."""
    return body(inputs).flatten(2).transpose(1, 2).half().cpu().numpy()


def images_of(pixels: Tensor, size: int, views: int) -> Iterator[Tensor]:
    """The pictures as the network wants them, then as many views of each."""
    yield network_input(pixels, size)
    for _ in range(views):
        yield view(pixels, size)


def describe_pictures(body: nn.Module, pixels: Tensor, size: int, views: int) -> np.ndarray:
    """Images × places × maps, every picture followed by its views."""
    parts = []
    for part in pixels.split(PICTURES_AT_ONCE):
        images = np.stack([describe(body, inputs) for inputs in images_of(part, size, views)], axis=1)
        parts.append(images.reshape(-1, *images.shape[2:]))
    return np.concatenate(parts)


class FeatureFiles:
    """Writes feature files by the program, while the next ones are being computed."""

    def __init__(self, program: str, folder: pathlib.Path) -> None:
        self.program = program
        self.folder = folder
        self.pool = concurrent.futures.ThreadPoolExecutor(8)
        self.pending: list[concurrent.futures.Future[None]] = []

    def wants(self, name: str) -> bool:
        return not (self.folder / name).exists()

    def add(self, name: str, features: np.ndarray, images_per_picture: int) -> None:
        if len(self.pending) >= 16:  # what waits is in memory
            self.pending.pop(0).result()
        self.pending.append(self.pool.submit(self.write, name, features, images_per_picture))

    def write(self, name: str, features: np.ndarray, images_per_picture: int) -> None:
        array = self.folder / f"{name}.npy"
        np.save(array, features)
        command = [self.program, "--quiet", "convert", array, self.folder / name, "--dtype", "f2",
                   "--images-per-picture", str(images_per_picture)]
        subprocess.run(command, check=True)
        array.unlink()

    def close(self) -> None:
        for written in self.pending:
            written.result()
        self.pool.shutdown()


def describe_part(body: nn.Module, pictures: Pictures, stem: str, size: int, views: int, files: FeatureFiles) -> None:
    for number, pixels in enumerate(pictures.pixels.split(PICTURES_PER_FILE)):
        name = f"{stem}-{number:03}.bpf"
        # Seeded again for every file, so that a resumed run makes the same views.
        torch.manual_seed(number)
        if files.wants(name):
            files.add(name, describe_pictures(body, pixels, size, views), 1 + views)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="cifar10")
    parser.add_argument("--network", choices=BODIES, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--weights", type=pathlib.Path, required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--program", default="bitpool")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--views", type=int, default=0)
    parser.add_argument("--view-pictures", type=int, default=5000)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = False  # the program computes in single precision
    body = load_body(arguments.network, str(arguments.weights / f"{arguments.network}.npz")).eval().to(arguments.device)
    files = FeatureFiles(arguments.program, arguments.data / arguments.dataset)
    for part in ("train", "test"):
        pictures = load(arguments.dataset, arguments.data, part, arguments.device)
        describe_part(body, pictures, f"cnn-{arguments.key}-{part}", arguments.size, 0, files)
        if part == "train" and arguments.views > 0:
            first = pictures.select(torch.arange(arguments.view_pictures, device=arguments.device))
            stem = f"cnn-{arguments.key}-train-classes-{arguments.views}-1"
            describe_part(body, first, stem, arguments.size, arguments.views, files)
    files.close()


if __name__ == "__main__":
    main()
