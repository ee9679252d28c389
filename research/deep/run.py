"""Trains the deep methods of a plan and writes codes, figures and networks.

    python3 run.py unseen --data DATA --weights WEIGHTS --out OUT [--jobs 8] [--limit SECONDS]

DATA holds the sets as `bitpool data get cifar10 mnist --dir DATA` puts them, WEIGHTS the files of weights.py. A run
whose figures are in OUT is not done again. `evaluate.py` turns OUT into figures of record.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import pathlib
import time
from collections.abc import Iterator
from multiprocessing.sharedctypes import Synchronized as Counter

import torch
import torch.multiprocessing as multiprocessing

import contrast
import dhn
import dqn
import dsdh
from data import SPLITS, load
from loop import Result, Settings, timed, write

METHODS = {
    "dhn": dhn.run,
    "dqn": dqn.run,
    "dsdh": dsdh.run,
    "cibhash": contrast.run,
    "sav-frozen": contrast.run,
    "sav-tuned": contrast.run,
}
LABELLED = ("dhn", "dqn", "dsdh")
SIZES = {"cifar10": 112, "mnist": 64}
# Those of the methods with labels were chosen on nested splits of training pictures (plan `rates`), the others by hand.
RATES = {"dhn": 1e-3, "dqn": 1e-3, "dsdh": 1e-3, "cibhash": 1e-2, "sav-frozen": 1e-2, "sav-tuned": 3e-3}
BATCHES = {"dhn": 64, "dqn": 256, "dsdh": 128, "cibhash": 256, "sav-frozen": 256, "sav-tuned": 256}
# Pictures seen in a run: two epochs of seven classes of CIFAR-10, or twenty of 5,000 pictures.
SHOWN = {"unseen": 50_000, "nested-unseen": 50_000, "traditional": 60_000, "nested-traditional": 60_000}
SHOWN["unsupervised"] = 100_000
# DSDH's authors show it 150 epochs of 5,000 pictures; sixty are enough.
SHOWN_TO = {("dsdh", "traditional"): 300_000}


def settings_of(method: str, dataset: str, setting: str, network: str, bits: int, seed: int, **others) -> Settings:
    batch = BATCHES[method]
    size = SIZES[dataset] if network == "resnet50" else 2 * SIZES[dataset]
    shown = SHOWN_TO.get((method, setting), SHOWN[setting])
    values = {"size": size, "batch": batch, "steps": shown // batch, "rate": RATES[method], **others}
    return Settings(method, dataset, setting, network, bits, seed, **values)


def rates() -> list[Settings]:
    choices = [("nested-unseen", "cifar10"), ("nested-traditional", "cifar10"), ("nested-unseen", "mnist")]
    return [
        settings_of(method, dataset, setting, "resnet50", 32, 1, rate=rate)
        for (setting, dataset), method, rate in itertools.product(choices, LABELLED, (1e-4, 3e-4, 1e-3))
    ]


def unseen() -> list[Settings]:
    return [
        settings_of(method, dataset, "unseen", "resnet50", bits, seed)
        for bits, seed, method, dataset in itertools.product((32, 24, 48), range(1, 6), LABELLED, ("cifar10", "mnist"))
    ]


def seen() -> list[Settings]:
    return [
        settings_of(method, "cifar10", "traditional", "resnet50", bits, seed)
        for seed, bits, method in itertools.product(range(1, 3), (12, 24, 32, 48), LABELLED)
        if method != "dqn" or bits % 8 == 0
    ]


def views() -> list[Settings]:
    return [
        settings_of(method, "cifar10", "unsupervised", "resnet50", bits, seed)
        for seed, method, bits in itertools.product(
            range(1, 2), ("cibhash", "sav-frozen", "sav-tuned"), (16, 32, 64)
        )
    ]


def coder() -> list[Settings]:
    """One small network whose outputs are codes, for `bitpool coder from-onnx`."""
    return [settings_of("dhn", "cifar10", "traditional", "squeezenet", 32, 1)]


PLANS = {"rates": rates, "unseen": unseen, "seen": seen, "views": views, "coder": coder}


def export(result: Result, settings: Settings, path: pathlib.Path) -> None:
    """The network as ONNX; OpenCV reads this version of its operators."""
    picture = torch.zeros(1, 3, settings.size, settings.size)
    options = {"dynamo": False} if "dynamo" in torch.onnx.export.__code__.co_varnames else {}
    names = {"input_names": ["picture"], "output_names": ["code"]}
    torch.onnx.export(result.coder.cpu().float().eval(), picture, str(path), opset_version=11, **names, **options)


def taken(runs: list[Settings], begun: Counter) -> Iterator[Settings]:
    """The runs that no other process has taken, one after the other."""
    while True:
        with begun.get_lock():
            number = begun.value
            begun.value += 1
        if number >= len(runs):
            return
        yield runs[number]


def work(_: int, begun: Counter, runs: list[Settings], arguments: argparse.Namespace) -> None:
    """What one process does: runs that nobody has begun, until the time is over."""
    torch.set_num_threads(1)
    sets: dict[str, tuple] = {}
    for settings in taken(runs, begun):
        if time.monotonic() > arguments.deadline:
            return
        settings = dataclasses.replace(settings, weights=str(arguments.weights), device=arguments.device)
        if arguments.steps:
            settings = dataclasses.replace(settings, steps=arguments.steps)
        if (arguments.out / f"{settings.name}.json").exists():
            continue
        if settings.dataset not in sets:
            folder = pathlib.Path(arguments.data)
            sets[settings.dataset] = tuple(load(settings.dataset, folder, part, settings.device) for part in ("train", "test"))
        split = SPLITS[settings.setting](*sets[settings.dataset], settings.seed)
        result, seconds = timed(METHODS[settings.method], settings, split)
        if settings.network == "squeezenet":
            export(result, settings, arguments.out / f"{settings.name}.onnx")
        write(result, settings, split, seconds, arguments.out)
        print(f"{settings.name} rate {settings.rate:g}: {result.quality:.2f} in {seconds:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", choices=PLANS, nargs="+")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--weights", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=8, help="runs at once")
    parser.add_argument("--limit", type=float, default=1e9, help="seconds after which no run begins")
    parser.add_argument("--steps", type=int, default=0, help="of every run, for a quick look")
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.deadline = time.monotonic() + arguments.limit
    runs = [settings for plan in arguments.plan for settings in PLANS[plan]()]
    begun = multiprocessing.get_context("spawn").Value("q", 0)
    multiprocessing.spawn(work, (begun, runs, arguments), nprocs=min(arguments.jobs, len(runs)))


if __name__ == "__main__":
    main()
