"""DQN: cosines of pairs, and vectors near sums of codewords (Cao et al., AAAI 2016). Searched by quantiser distance."""

from __future__ import annotations

import torch
from torch import Tensor

from data import Split, network_input, shifted
from loop import Result, Settings, Training, batches, new_coder, outputs_of, ranking_quality

DIMENSION = 300
WORDS = 256
QUANTISATION = 1e-4
SWEEPS = 3
RENEWALS = 5  # in a run; about as many steps apart as the authors' every two epochs


def pair_loss(outputs: Tensor, labels: Tensor) -> Tensor:
    """Mean of (s − cos)², s = ±1, each kind of pair weighing as if there were equally many of both."""
    unit = torch.nn.functional.normalize(outputs, dim=1)
    same = labels[:, None] == labels[None]
    share = same.float().mean()
    weight = torch.where(same, 0.5 / share, 0.5 / (1 - share).clamp(min=1e-6))
    return (weight * (torch.where(same, 1.0, -1.0) - unit @ unit.T) ** 2).mean()


class Quantiser:
    """A vector as the sum of one word of each codebook (bits / 8 of them, each of 256 words)."""

    def __init__(self, vectors: Tensor, books: int, seed: int) -> None:
        generator = torch.Generator(vectors.device).manual_seed(seed)
        rest = vectors.clone()
        words, choices = [], []
        for _ in range(books):  # each book begins with the means of what the ones before it leave over
            centres = rest[torch.randperm(len(rest), generator=generator, device=rest.device)[:WORDS]]
            for _ in range(10):
                choice = torch.cdist(rest, centres).argmin(1)
                centres = means(rest, choice, centres)
            choice = torch.cdist(rest, centres).argmin(1)
            rest = rest - centres[choice]
            words.append(centres)
            choices.append(choice)
        self.words = torch.stack(words)  # books × words × dimension
        self.choices = torch.stack(choices, 1)  # of the vectors it was made from

    def encode(self, vectors: Tensor, choices: Tensor | None = None) -> Tensor:
        """Iterated conditional modes: each book's word in turn is the best one given the others."""
        if choices is None:
            choices = self.greedy(vectors)
        choices = choices.clone()
        for _ in range(SWEEPS):
            for book, words in enumerate(self.words):
                rest = vectors - self.decode(choices) + words[choices[:, book]]
                choices[:, book] = torch.cdist(rest, words).argmin(1)
        return choices

    def greedy(self, vectors: Tensor) -> Tensor:
        rest, choices = vectors, []
        for words in self.words:
            choices.append(torch.cdist(rest, words).argmin(1))
            rest = rest - words[choices[-1]]
        return torch.stack(choices, 1)

    def decode(self, choices: Tensor) -> Tensor:
        return sum(words[choices[:, book]] for book, words in enumerate(self.words))

    def renew(self, vectors: Tensor) -> None:
        """Words by least squares for the present choices, then the choices for these words."""
        books = len(self.words)
        flat = (self.choices + WORDS * torch.arange(books, device=vectors.device)).flatten()
        rows = torch.arange(len(vectors), device=vectors.device).repeat_interleave(books)
        chosen = torch.zeros(len(vectors), books * WORDS, device=vectors.device)
        chosen[rows, flat] = 1
        system = chosen.T @ chosen + 1e-3 * torch.eye(books * WORDS, device=vectors.device)
        self.words = torch.linalg.solve(system, chosen.T @ vectors).view(books, WORDS, -1)
        self.choices = self.encode(vectors, self.choices)


def means(vectors: Tensor, choice: Tensor, otherwise: Tensor) -> Tensor:
    """The mean of the vectors of each choice, where it has any."""
    sums = torch.zeros_like(otherwise).index_add_(0, choice, vectors)
    counts = torch.bincount(choice, minlength=len(otherwise))[:, None]
    return torch.where(counts > 0, sums / counts.clamp(min=1), otherwise)


def run(settings: Settings, split: Split) -> Result:
    training = Training(settings, new_coder(settings, DIMENSION))
    data = split.training
    coder = torch.nn.Sequential(training.coder, torch.nn.Tanh())
    quantiser = Quantiser(outputs_of(coder, data, settings), settings.bits // 8, settings.seed)
    for step, chosen in enumerate(batches(len(data), settings)):
        if step > 0 and step % max(1, settings.steps // RENEWALS) == 0:
            quantiser.renew(outputs_of(coder, data, settings))
        pictures = shifted(data.pixels[chosen], mirror=settings.dataset == "cifar10")
        outputs = torch.tanh(training.outputs(network_input(pictures, settings.size)))
        off = ((outputs - quantiser.decode(quantiser.choices[chosen])) ** 2).sum(1).mean()
        training.step(pair_loss(outputs, data.labels[chosen]) + QUANTISATION * off)
    quantiser.renew(outputs_of(coder, data, settings))
    return quantised_result(training, coder, quantiser, split)


def quantised_result(training: Training, coder: torch.nn.Module, quantiser: Quantiser, split: Split) -> Result:
    """The database is codewords, queries are real: ‖z − Cb‖², smaller is nearer."""
    settings = training.settings
    asked = outputs_of(coder, split.queries, settings)
    choices = quantiser.encode(outputs_of(coder, split.database, settings))
    stored = quantiser.decode(choices)
    quality = ranking_quality(lambda part: -torch.cdist(asked[part], stored), split.queries, split.database)
    bytes_of = lambda numbers: numbers.cpu().numpy().astype("uint8")
    return Result(training.coder, training.losses, bytes_of(choices), bytes_of(quantiser.encode(asked)), quality)
