"""What all methods share: a run's settings, the loop over batches, codes of many pictures, and the files of a run."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import time
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from data import Pictures, Split, network_input
from networks import BODIES, Coder, GlobalHead, load_body


LARGEST_GRADIENT = 1.0


@dataclasses.dataclass
class Settings:
    method: str
    dataset: str
    setting: str  # unseen, traditional, unsupervised
    network: str
    bits: int
    seed: int
    size: int = 112  # pixels of the network's input
    steps: int = 1000
    batch: int = 64
    rate: float = 1e-3  # of the body; the head has ten times this
    decay: float = 5e-4
    drop: float = 0.3  # the rate is multiplied by this at each quarter of the steps
    weights: str = "weights"  # folder of the files that weights.py wrote
    device: str = "cuda"

    @property
    def name(self) -> str:
        """The name of the run's files. Nested splits are there to compare rates, so theirs has the rate in it."""
        name = f"{self.method}-{self.network}-{self.dataset}-{self.setting}-{self.bits}-{self.seed}"
        return f"{name}-{self.rate:g}" if self.setting.startswith("nested") else name


def new_coder(settings: Settings, outputs: int) -> Coder:
    torch.manual_seed(settings.seed)
    body = load_body(settings.network, f"{settings.weights}/{settings.network}.npz")
    coder = Coder(body, GlobalHead(BODIES[settings.network].outputs, outputs))
    return coder.to(settings.device, memory_format=torch.channels_last)


class Training:
    """Steps of gradient descent with momentum, at a rate that falls."""

    def __init__(self, settings: Settings, coder: Coder) -> None:
        self.settings = settings
        self.coder = coder.train()
        groups = [
            {"params": [p for p in coder.body.parameters() if p.requires_grad], "lr": settings.rate},
            {"params": list(coder.head.parameters()), "lr": 10 * settings.rate},
        ]
        self.optimiser = torch.optim.SGD(
            [group for group in groups if group["params"]], momentum=0.9, weight_decay=settings.decay
        )
        quarter = max(1, settings.steps // 4)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimiser, quarter, settings.drop)
        self.losses: list[float] = []

    def outputs(self, pictures: Tensor) -> Tensor:
        kind = torch.device(self.settings.device).type
        with torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda"):
            return self.coder(pictures).float()

    def step(self, loss: Tensor) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        # One bad batch at the full rate can drive all outputs to the same sign, from which no gradient leads back.
        nn.utils.clip_grad_norm_(self.coder.parameters(), LARGEST_GRADIENT)
        self.optimiser.step()
        self.schedule.step()
        if self.schedule.last_epoch % 50 == 0:
            self.losses.append(round(float(loss.detach()), 5))


def batches(count: int, settings: Settings) -> Iterator[Tensor]:
    """Numbers of pictures, each once an epoch, for all steps of a run."""
    generator = torch.Generator().manual_seed(settings.seed)
    order = torch.empty(0, dtype=torch.long)
    for _ in range(settings.steps):
        if len(order) < settings.batch:
            order = torch.randperm(count, generator=generator)
        chosen, order = order[: settings.batch], order[settings.batch :]
        yield chosen.to(settings.device)


@torch.no_grad()
def outputs_of(coder: nn.Module, pictures: Pictures, settings: Settings, at_once: int = 1024) -> Tensor:
    coder.eval()
    kind = torch.device(settings.device).type
    parts = []
    for pixels in pictures.pixels.split(at_once):
        with torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda"):
            parts.append(coder(network_input(pixels, settings.size)).float())
    coder.train()
    return torch.cat(parts)


def pack(outputs: Tensor) -> np.ndarray:
    """Signs as bits, bit i in byte i / 8, the lowest first, as Bitpool packs them."""
    return np.packbits(outputs.cpu().numpy() > 0, axis=1, bitorder="little")


def mean_average_precision(scores: Tensor, relevant: Tensor, top: int = 0) -> float:
    """Of rankings by descending score, one row per query; each query's sum is divided by its right answers among the
    first `top`. The figures of record come from `bitpool eval`, which knows ties; this one is for the eye, and for DQN, whose
    scores have none."""
    order = torch.argsort(scores, dim=1, descending=True, stable=True)
    if top:
        order = order[:, :top]
    hits = relevant.gather(1, order).float()
    precision = hits.cumsum(1) / torch.arange(1, hits.shape[1] + 1, device=hits.device)
    return float(((precision * hits).sum(1) / hits.sum(1).clamp(min=1)).mean())


def ranking_quality(query_scores, queries: Pictures, database: Pictures, top: int = 0, at_once: int = 500) -> float:
    """The mean over all queries; `query_scores(slice)` gives the scores of some of them."""
    total = 0.0
    for begin in range(0, len(queries), at_once):
        part = slice(begin, min(begin + at_once, len(queries)))
        relevant = queries.labels[part, None] == database.labels[None]
        total += mean_average_precision(query_scores(part), relevant, top) * (part.stop - part.start)
    return 100 * total / len(queries)


@dataclasses.dataclass
class Result:
    """What a method's `run` gives back."""

    coder: Coder
    losses: list[float]
    database: np.ndarray  # packed codes
    queries: np.ndarray
    quality: float  # mAP in percent by `ranking_quality`


def binary_result(training: Training, split: Split, top: int = 0) -> Result:
    settings = training.settings
    database, queries = (outputs_of(training.coder, part, settings) for part in (split.database, split.queries))
    signs = torch.where(database > 0, 1.0, -1.0)
    asked = torch.where(queries > 0, 1.0, -1.0)
    quality = ranking_quality(lambda part: asked[part] @ signs.T, split.queries, split.database, top)
    return Result(training.coder, training.losses, pack(database), pack(queries), quality)


def write(result: Result, settings: Settings, split: Split, seconds: float, folder: pathlib.Path) -> None:
    np.savez_compressed(
        folder / f"{settings.name}.npz",
        database=result.database,
        queries=result.queries,
        database_labels=split.database.labels.cpu().numpy().astype(np.uint8),
        query_labels=split.queries.labels.cpu().numpy().astype(np.uint8),
    )
    facts = dataclasses.asdict(settings) | {
        "quality": round(result.quality, 3),
        "losses": result.losses,
        "seconds": round(seconds, 1),
        "machine": torch.cuda.get_device_name() if settings.device == "cuda" else "cpu",
        "torch": torch.__version__,
    }
    (folder / f"{settings.name}.json").write_text(json.dumps(facts) + "\n")


def timed(function, *arguments):
    begin = time.monotonic()
    return function(*arguments), time.monotonic() - begin
