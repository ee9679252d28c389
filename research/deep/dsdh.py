"""DSDH: pairs, and codes that a linear classifier reads, found bit by bit (Li et al., NIPS 2017)."""

from __future__ import annotations

import torch
from torch import Tensor

from data import Split, network_input
from loop import Result, Settings, Training, batches, binary_result, new_coder, outputs_of

RIDGE = 0.1
PULL = 55.0  # η: how strongly outputs and codes pull at each other
SWEEPS = 10


def classifier(codes: Tensor, targets: Tensor) -> Tensor:
    """W (bits × classes) of the ridge regression from codes (n × bits) to targets (n × classes)."""
    system = codes.T @ codes + RIDGE * torch.eye(codes.shape[1], device=codes.device)
    return torch.linalg.solve(system, codes.T @ targets)


def objective(codes: Tensor, outputs: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """‖Y − BW‖² + η‖B − U‖², which every step of the descent lowers or leaves."""
    return ((targets - codes @ weights) ** 2).sum() + PULL * ((codes - outputs) ** 2).sum()


def descend(codes: Tensor, outputs: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Discrete cyclic coordinate descent: each column of codes in turn is the best one given the others."""
    codes = codes.clone()
    wanted = targets @ weights.T + PULL * outputs
    correlation = weights @ weights.T
    for _ in range(SWEEPS):
        before = codes.clone()
        for bit in range(codes.shape[1]):
            others = codes @ correlation[:, bit] - codes[:, bit] * correlation[bit, bit]
            codes[:, bit] = torch.where(wanted[:, bit] - others >= 0, 1.0, -1.0)
        if torch.equal(before, codes):
            break
    return codes


def pair_loss(outputs: Tensor, everyone: Tensor, same: Tensor) -> Tensor:
    """Mean of ln(1 + e^θ) − s·θ, θ = u·v / 2, between a batch and the latest outputs of all training pictures."""
    theta = outputs @ everyone.T / 2
    return (torch.nn.functional.softplus(theta) - same * theta).mean()


def run(settings: Settings, split: Split) -> Result:
    training = Training(settings, new_coder(settings, settings.bits))
    data = split.training
    targets = torch.nn.functional.one_hot(data.labels, 10).float()
    everyone = outputs_of(training.coder, data, settings)
    codes = torch.where(everyone > 0, 1.0, -1.0)
    epoch = max(1, len(data) // settings.batch)
    for step, chosen in enumerate(batches(len(data), settings)):
        if step % epoch == 0:
            codes = descend(codes, everyone, targets, classifier(codes, targets))
        outputs = training.outputs(network_input(data.pixels[chosen], settings.size))
        everyone[chosen] = outputs.detach()
        same = (data.labels[chosen, None] == data.labels[None]).float()
        # The authors add the pull to a sum over all training pictures; added to a mean, it is divided by their number.
        pull = PULL / len(data) * ((outputs - codes[chosen]) ** 2).sum(1).mean()
        training.step(pair_loss(outputs, everyone, same) + pull)
    return binary_result(training, split)
