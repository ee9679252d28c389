"""Codes from views without labels, in one of three ways:

cibhash    frozen body, a hidden layer of 1,024, contrast of two views with a bottleneck (Qiu et al., IJCAI 2021)
sav-frozen our own contrast of views through the pooling system, the body as it is
sav-tuned  the same with the whole network learned, to know how far the idea goes
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from data import Split, view
from loop import Result, Settings, Training, batches, binary_result
from networks import BODIES, Coder, PooledHead, load_body

TEMPERATURE = 0.3
BOTTLENECK = 1e-3
HIDDEN = 1024
TOP = 1000


class HiddenHead(nn.Module):
    """The mean of every map, a hidden layer, a linear one."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs))

    def forward(self, maps: Tensor) -> Tensor:
        return self.layers(maps.mean((2, 3)))


def contrast(first: Tensor, second: Tensor) -> Tensor:
    """NT-Xent: each of 2n codes has to pick out its other view among all others, by cosine over the temperature."""
    both = nn.functional.normalize(torch.cat([first, second]), dim=1)
    count = len(first)
    logits = (both @ both.T / TEMPERATURE).fill_diagonal_(float("-inf"))
    partner = torch.arange(2 * count, device=both.device).roll(count)
    return nn.functional.cross_entropy(logits, partner)


def bottleneck(first: Tensor, second: Tensor) -> Tensor:
    """KL divergence between the bits' probabilities of the two views, both ways."""
    p, q = (torch.sigmoid(part).clamp(1e-6, 1 - 1e-6) for part in (first, second))
    forth = p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()
    back = q * (q / p).log() + (1 - q) * ((1 - q) / (1 - p)).log()
    return (forth + back).sum(1).mean() / 2


class SignThrough(torch.autograd.Function):
    """Signs forward, and the gradient as if they were not there: how CIBHash's drawn bits are learned."""

    @staticmethod
    def forward(context, probabilities: Tensor) -> Tensor:
        return torch.where(torch.rand_like(probabilities) < probabilities, 1.0, -1.0)

    @staticmethod
    def backward(context, gradient: Tensor) -> Tensor:
        return gradient


def new_coder(settings: Settings) -> Coder:
    torch.manual_seed(settings.seed)
    body = load_body(settings.network, f"{settings.weights}/{settings.network}.npz")
    maps = BODIES[settings.network].outputs
    if settings.method == "cibhash":
        head = HiddenHead(maps, settings.bits)
    else:
        head = PooledHead(maps, settings.bits, hidden=HIDDEN, mu=10.0)
    if settings.method != "sav-tuned":
        body.requires_grad_(False)
    return Coder(body, head).to(settings.device, memory_format=torch.channels_last)


def run(settings: Settings, split: Split) -> Result:
    """`settings.rate` is the body's; heads have ten times that."""
    training = Training(settings, new_coder(settings))
    data = split.training
    for chosen in batches(len(data), settings):
        pixels = data.pixels[chosen]
        both = training.outputs(torch.cat([view(pixels, settings.size), view(pixels, settings.size)]))
        first, second = both.chunk(2)
        if settings.method == "cibhash":
            signs = [SignThrough.apply(torch.sigmoid(part)) for part in (first, second)]
            loss = contrast(*signs) + BOTTLENECK * bottleneck(first, second)
        else:
            loss = contrast(torch.tanh(first), torch.tanh(second))
        training.step(loss)
    return binary_result(training, split, TOP)
