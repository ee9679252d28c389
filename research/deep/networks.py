"""The two bodies that codes are learned on: ResNet-50 and SqueezeNet v1.0, with ImageNet weights.

Both take blue, green and red minus the mean of ImageNet (`MEAN_BGR`), as their authors trained them, and give maps
of features; a head turns these into the numbers whose signs are the code.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

MEAN_BGR = (103.939, 116.779, 123.68)


class Bottleneck(nn.Module):
    """Three convolutions beside a shortcut. The stride sits on the first one, as in the authors' own network."""

    def __init__(self, inputs: int, width: int, stride: int, project: bool) -> None:
        super().__init__()
        outputs = 4 * width
        self.a = normalised(inputs, width, 1, stride)
        self.b = normalised(width, width, 3, 1)
        self.c = normalised(width, outputs, 1, 1)
        self.shortcut = normalised(inputs, outputs, 1, stride) if project else nn.Identity()

    def forward(self, maps: Tensor) -> Tensor:
        inner = torch.relu(self.b(torch.relu(self.a(maps))))
        return torch.relu(self.c(inner) + self.shortcut(maps))


def normalised(inputs: int, outputs: int, side: int, stride: int) -> nn.Sequential:
    # The epsilon is the one the weights were trained with, not the one their file names.
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, side, stride, padding=side // 2),
        nn.BatchNorm2d(outputs, eps=1.001e-5),
    )


class ResNet50(nn.Module):
    """2,048 maps, a thirty-second of the side."""

    outputs = 2048

    def __init__(self) -> None:
        super().__init__()
        self.stem = normalised(3, 64, 7, 2)
        blocks: list[nn.Module] = []
        inputs = 64
        for stage, (width, count) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
            for block in range(count):
                stride = 2 if block == 0 and stage > 0 else 1
                blocks.append(Bottleneck(inputs, width, stride, project=block == 0))
                inputs = 4 * width
        self.blocks = nn.Sequential(*blocks)

    def forward(self, pictures: Tensor) -> Tensor:
        maps = torch.relu(self.stem(pictures))
        # A rectifier gives nothing below zero, so a border of zeros gives the same maxima as the padding here.
        return self.blocks(nn.functional.max_pool2d(maps, 3, 2, padding=1))

    def train(self, mode: bool = True) -> "ResNet50":
        """Keeps the statistics of ImageNet: those of small batches are too rough, and differ between runs."""
        super().train(mode)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.eval()
        return self


class Fire(nn.Module):
    def __init__(self, inputs: int, squeezed: int, width: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeezed, 1)
        self.expand1 = nn.Conv2d(squeezed, width, 1)
        self.expand3 = nn.Conv2d(squeezed, width, 3, padding=1)

    def forward(self, maps: Tensor) -> Tensor:
        squeezed = torch.relu(self.squeeze(maps))
        return torch.relu(torch.cat([self.expand1(squeezed), self.expand3(squeezed)], 1))


class SqueezeNet(nn.Module):
    """512 maps, about a sixteenth of the side: up to `fire9/concat`, as the features of the paper's tables."""

    outputs = 512

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 96, 7, 2)
        plan = [(96, 16, 64), (128, 16, 64), (128, 32, 128), (256, 32, 128), (256, 48, 192), (384, 48, 192),
                (384, 64, 256), (512, 64, 256)]
        self.fires = nn.ModuleList(Fire(*sizes) for sizes in plan)

    def forward(self, pictures: Tensor) -> Tensor:
        maps = self.pooled(torch.relu(self.conv1(pictures)))
        for number, fire in enumerate(self.fires, start=2):
            maps = fire(maps)
            if number in (4, 8):
                maps = self.pooled(maps)
        return maps

    @staticmethod
    def pooled(maps: Tensor) -> Tensor:
        # Caffe rounds the size of pooled maps up.
        return nn.functional.max_pool2d(maps, 3, 2, ceil_mode=True)


BODIES = {"resnet50": ResNet50, "squeezenet": SqueezeNet}


def load_body(name: str, weights: str) -> nn.Module:
    """The body with the weights that `weights.py` wrote."""
    body = BODIES[name]()
    with np.load(weights) as arrays:
        state = {key: torch.from_numpy(arrays[key].astype(np.float32)) for key in arrays.files}
    expected = {key for key in body.state_dict() if not key.endswith("num_batches_tracked")}
    if expected != set(state):
        raise ValueError(f"{weights}: expected the weights of {name}; they differ in {sorted(expected ^ set(state))[:3]}")
    body.load_state_dict(state, strict=False)
    return body


class GlobalHead(nn.Module):
    """The mean of every map, then one linear layer: the head of the three methods with labels."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        nn.init.normal_(self.linear.weight, std=0.01)
        nn.init.zeros_(self.linear.bias)

    def forward(self, maps: Tensor) -> Tensor:
        return self.linear(maps.mean((2, 3)))


class PooledHead(nn.Module):
    """Generalised max pooling of the local features, eq:gmp of the paper, then layers: the head of `sav`.

    (VVᵀ + μI)φ = V1 is solved as φ = V(VᵀV + μI)⁻¹1, since a picture has fewer places than maps; gradients flow
    through the solution.
    """

    def __init__(self, inputs: int, outputs: int, hidden: int, mu: float) -> None:
        super().__init__()
        self.log_mu = nn.Parameter(torch.tensor(float(np.log(mu))))
        layers: list[nn.Module] = []
        if hidden > 0:
            layers += [nn.Linear(inputs, hidden), nn.ReLU()]
        layers.append(nn.Linear(hidden or inputs, outputs))
        self.layers = nn.Sequential(*layers)

    def pool(self, maps: Tensor) -> Tensor:
        local = nn.functional.normalize(maps.flatten(2).float(), dim=1)  # images × maps × places
        gram = local.transpose(1, 2) @ local
        gram = gram + self.log_mu.exp() * torch.eye(gram.shape[1], device=gram.device)
        shares = torch.linalg.solve(gram, torch.ones(*gram.shape[:2], 1, device=gram.device))
        return nn.functional.normalize((local @ shares).squeeze(2), dim=1)

    def forward(self, maps: Tensor) -> Tensor:
        with torch.autocast(maps.device.type, enabled=False):
            return self.layers(self.pool(maps))


class Coder(nn.Module):
    """A body and a head: pictures to numbers."""

    def __init__(self, body: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.body = body
        self.head = head

    def forward(self, pictures: Tensor) -> Tensor:
        return self.head(self.body(pictures))
