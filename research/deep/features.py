"""Pooled vectors of a set and of random views of its training pictures, by a network on a GPU.

    python3 features.py --network resnet50 --data DATA --weights WEIGHTS --out OUT [--views 4] [--view-pictures 5000]

They are what `bitpool data extract` and generalised max pooling give (eq:gmp, μ = 10, unit length); describing 100,000
pictures that way on a few cores would take hours. The views are drawn by `data.view`, not by Bitpool's own generator.
`{train,test}.npy` have a vector a picture, `views.npy` the first training pictures, each followed by its views, and
`{train,test}-labels.npy` the classes.
"""

from __future__ import annotations

import argparse
import pathlib

import numpy as np
import torch
from torch import Tensor

from data import Pictures, load, network_input, view
from networks import BODIES, PooledHead, load_body

MU = 10.0


class Describer:
    """A network up to the maps that are its features, and their pooling."""

    def __init__(self, network: str, weights: pathlib.Path, size: int, device: str) -> None:
        self.body = load_body(network, str(weights / f"{network}.npz")).eval().to(device)
        self.pooling = PooledHead(BODIES[network].outputs, 1, hidden=0, mu=MU).to(device)
        self.size = size

    @torch.no_grad()
    def __call__(self, pictures: Tensor) -> np.ndarray:
        return self.pooling.pool(self.body(pictures)).cpu().numpy()

    def plain(self, pictures: Pictures, at_once: int = 250) -> np.ndarray:
        return np.concatenate([self(network_input(part, self.size)) for part in pictures.pixels.split(at_once)])

    def with_views(self, pictures: Pictures, views: int, at_once: int = 250) -> np.ndarray:
        """Each picture followed by its views."""
        parts = []
        for pixels in pictures.pixels.split(at_once):
            images = [self(network_input(pixels, self.size))] + [self(view(pixels, self.size)) for _ in range(views)]
            parts.append(np.stack(images, axis=1).reshape(len(pixels) * (1 + views), -1))
        return np.concatenate(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=BODIES, required=True)
    parser.add_argument("--dataset", default="cifar10")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--weights", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--views", type=int, default=4)
    parser.add_argument("--view-pictures", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    describer = Describer(arguments.network, arguments.weights, arguments.size, arguments.device)
    for part in ("train", "test"):
        pictures = load(arguments.dataset, arguments.data, part, arguments.device)
        np.save(arguments.out / f"{part}-labels.npy", pictures.labels.cpu().numpy().astype(np.int32))
        np.save(arguments.out / f"{part}.npy", describer.plain(pictures).astype(np.float16))
        if part == "train" and arguments.views > 0:
            torch.manual_seed(arguments.seed)
            first = pictures.select(torch.arange(arguments.view_pictures, device=arguments.device))
            np.save(arguments.out / "views.npy", describer.with_views(first, arguments.views).astype(np.float16))


if __name__ == "__main__":
    main()
