"""DHN: pairs of a batch by cross entropy, outputs pressed towards ±1 (Zhu et al., AAAI 2016)."""

from __future__ import annotations

import torch
from torch import Tensor

from data import Split, network_input, shifted
from loop import Result, Settings, Training, batches, binary_result, new_coder

QUANTISATION = 0.3
LINEAR_ABOVE = 15.0  # where exp would lose its digits, ln(1 + e^x) is x


def pair_loss(outputs: Tensor, labels: Tensor) -> Tensor:
    """Mean over pairs of ln(1 + e^{u·v}) − s·u·v, each kind of pair weighing as if there were equally many of both."""
    products = outputs @ outputs.T
    same = (labels[:, None] == labels[None]).float()
    softplus = torch.nn.functional.softplus(products, threshold=LINEAR_ABOVE)
    share = same.mean()
    weight = torch.where(same > 0, 0.5 / share, 0.5 / (1 - share).clamp(min=1e-6))
    return (weight * (softplus - same * products)).mean()


def quantisation_loss(outputs: Tensor) -> Tensor:
    """Mean of ln cosh(|u| − 1), written so that it cannot overflow."""
    off = (outputs.abs() - 1).abs()
    return (off + torch.nn.functional.softplus(-2 * off) - torch.log(torch.tensor(2.0))).mean()


def run(settings: Settings, split: Split) -> Result:
    training = Training(settings, new_coder(settings, settings.bits))
    data = split.training
    for chosen in batches(len(data), settings):
        pictures = shifted(data.pixels[chosen], mirror=settings.dataset == "cifar10")
        outputs = torch.tanh(training.outputs(network_input(pictures, settings.size)))
        training.step(pair_loss(outputs, data.labels[chosen]) + QUANTISATION * quantisation_loss(outputs))
    return binary_result(training, split)
