"""CIFAR-10 and MNIST as tensors on the device, their splits, and batches of pictures as a network wants them."""

from __future__ import annotations

import dataclasses
import pathlib

import numpy as np
import torch
from torch import Tensor

from networks import MEAN_BGR

# The classes that are left out of training, by seed: those that `samples/retrieval_splits.h` draws for sets of ten
# classes, so that every method, ours and these, is tested on the same ones.
UNSEEN_CLASSES = {1: (0, 2, 5), 2: (4, 5, 7), 3: (4, 5, 9), 4: (5, 7, 8), 5: (1, 4, 6)}


@dataclasses.dataclass
class Pictures:
    pixels: Tensor  # n × 3 × side × side bytes; blue, green, red
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def select(self, chosen: Tensor) -> "Pictures":
        return Pictures(self.pixels[chosen], self.labels[chosen])


@dataclasses.dataclass
class Split:
    training: Pictures
    database: Pictures
    queries: Pictures


def read_cifar10(folder: pathlib.Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Records of one label and 3 × 32 × 32 bytes, red first."""
    names = [f"data_batch_{number}.bin" for number in range(1, 6)] if part == "train" else ["test_batch.bin"]
    records = np.concatenate([np.fromfile(folder / name, np.uint8).reshape(-1, 3073) for name in names])
    return records[:, 1:].reshape(-1, 3, 32, 32)[:, ::-1].copy(), records[:, 0]


def read_mnist(folder: pathlib.Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    name = "train" if part == "train" else "t10k"
    pixels = np.fromfile(folder / f"{name}-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 1, 28, 28)
    labels = np.fromfile(folder / f"{name}-labels-idx1-ubyte", np.uint8)[8:]
    return np.repeat(pixels, 3, axis=1), labels


READERS = {"cifar10": read_cifar10, "mnist": read_mnist}


def load(dataset: str, folder: pathlib.Path, part: str, device: str) -> Pictures:
    pixels, labels = READERS[dataset](folder / dataset, part)
    return Pictures(torch.from_numpy(pixels).to(device), torch.from_numpy(labels.astype(np.int64)).to(device))


def split_unseen(train: Pictures, test: Pictures, seed: int) -> Split:
    """Seven classes are learned from; of the other three, the test part's pictures search the training part's."""
    unseen = torch.tensor(UNSEEN_CLASSES[seed], device=train.labels.device)
    asked = torch.isin(train.labels, unseen)
    return Split(train.select(~asked), train.select(asked), test.select(torch.isin(test.labels, unseen)))


def split_traditional(train: Pictures, test: Pictures, seed: int, queries: int = 100, training: int = 500) -> Split:
    """Some pictures of every class are queries, the others are searched, and some of those are learned from."""
    everything = Pictures(torch.cat([train.pixels, test.pixels]), torch.cat([train.labels, test.labels]))
    generator = np.random.default_rng(seed)
    labels = everything.labels.cpu().numpy()
    asks = np.zeros(len(labels), bool)
    learns = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        drawn = generator.permutation(np.flatnonzero(labels == label))
        asks[drawn[:queries]] = True
        learns[drawn[queries : queries + training]] = True
    pick = lambda mask: everything.select(torch.from_numpy(np.flatnonzero(mask)).to(everything.labels.device))
    return Split(pick(learns), pick(~asks), pick(asks))


def split_unsupervised(train: Pictures, test: Pictures, seed: int) -> Split:
    """The training part, without labels, is learned from and searched; the test part gives the queries (tab:deepbit)."""
    del seed
    return Split(train, train, test)


def nested_unseen(train: Pictures, test: Pictures, seed: int) -> Split:
    """For choosing constants: two of the seven seen classes play the unseen ones, all from the training pictures."""
    seen = split_unseen(train, test, seed).training
    classes = seen.labels.unique()
    held = torch.isin(seen.labels, classes[:2])
    asks = held & (torch.arange(len(seen), device=held.device) % 6 == 0)
    return Split(seen.select(~held), seen.select(held & ~asks), seen.select(asks))


def nested_traditional(train: Pictures, test: Pictures, seed: int) -> Split:
    """For choosing constants: a tenth of the training pictures are queries, the rest are learned from and searched."""
    learns = split_traditional(train, test, seed).training
    asks = torch.arange(len(learns), device=learns.labels.device) % 10 == 0
    return Split(learns.select(~asks), learns.select(~asks), learns.select(asks))


SPLITS = {
    "unseen": split_unseen,
    "traditional": split_traditional,
    "unsupervised": split_unsupervised,
    "nested-unseen": nested_unseen,
    "nested-traditional": nested_traditional,
}


def network_input(pixels: Tensor, size: int) -> Tensor:
    """Bytes to what the networks were trained on: scaled, minus the mean."""
    scaled = torch.nn.functional.interpolate(pixels.float(), size=(size, size), mode="bilinear", align_corners=False)
    mean = torch.tensor(MEAN_BGR, device=pixels.device).view(1, 3, 1, 1)
    return (scaled - mean).to(memory_format=torch.channels_last)


def shifted(pixels: Tensor, mirror: bool, border: int = 4) -> Tensor:
    """Each picture moved by up to `border` pixels and, where it makes sense, mirrored at random."""
    count, _, height, width = pixels.shape
    padded = torch.nn.functional.pad(pixels, (border,) * 4)
    device = pixels.device
    rows = torch.randint(0, 2 * border + 1, (count, 1), device=device) + torch.arange(height, device=device)
    columns = torch.randint(0, 2 * border + 1, (count, 1), device=device) + torch.arange(width, device=device)
    if mirror:
        columns = torch.where(torch.rand(count, 1, device=device) < 0.5, columns.flip(1), columns)
    index = torch.arange(count, device=device)
    return padded[index[:, None, None], :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def view(pixels: Tensor, size: int) -> Tensor:
    """A random view of kind `classes` of every picture, as `image/picture_views.h` describes them: a crop of 40 to
    100 %, mirrored, other contrast, brightness and colour, a fifth of them grey."""
    count, device = len(pixels), pixels.device
    uniform = lambda low, high, *shape: low + (high - low) * torch.rand(count, *shape, device=device)
    scale = uniform(0.4, 1.0).sqrt()
    mirrored = torch.where(torch.rand(count, device=device) < 0.5, -1.0, 1.0)
    theta = torch.zeros(count, 2, 3, device=device)
    theta[:, 0, 0], theta[:, 1, 1] = scale * mirrored, scale
    theta[:, :, 2] = uniform(-1, 1, 2) * (1 - scale)[:, None]
    grid = torch.nn.functional.affine_grid(theta, [count, 3, size, size], align_corners=False)
    pictures = torch.nn.functional.grid_sample(pixels.float(), grid, align_corners=False, padding_mode="border")
    pictures = (pictures - 128) * uniform(0.6, 1.4, 1, 1, 1) + 128 + uniform(-40, 40, 1, 1, 1)
    pictures = pictures * uniform(0.8, 1.2, 3, 1, 1)
    grey = torch.rand(count, 1, 1, 1, device=device) < 0.2
    pictures = torch.where(grey, pictures.mean(1, keepdim=True).expand_as(pictures), pictures).clamp(0, 255)
    return network_input(pictures, size)
