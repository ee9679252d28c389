"""Losses against hand-worked values, steps against their objectives, layouts against what Bitpool reads."""

from __future__ import annotations

import dataclasses
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import torch
except ImportError:
    print("skipped: PyTorch is not here")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import contrast  # noqa: E402
import data  # noqa: E402
import dhn  # noqa: E402
import dqn  # noqa: E402
import dsdh  # noqa: E402
import local_features  # noqa: E402
import loop  # noqa: E402
import networks  # noqa: E402
import run  # noqa: E402


class Losses(unittest.TestCase):
    def test_dhn_pairs_by_hand(self):
        outputs = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        labels = torch.tensor([0, 1])
        # Pairs with themselves are alike (u·v = 1), the others are not (u·v = 0); both kinds weigh a half.
        expected = 0.5 * (math.log(1 + math.e) - 1) + 0.5 * math.log(2)
        self.assertAlmostEqual(float(dhn.pair_loss(outputs, labels)), expected, places=5)

    def test_dhn_quantisation_is_ln_cosh(self):
        outputs = torch.tensor([[0.5, -2.0, 1.0]])
        expected = (math.log(math.cosh(0.5)) + math.log(math.cosh(1.0)) + 0.0) / 3
        self.assertAlmostEqual(float(dhn.quantisation_loss(outputs)), expected, places=5)

    def test_dqn_pairs_by_hand(self):
        outputs = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
        # Cosines 1 (alike, loss 0) and 0 (unlike, loss 1), half the weight each.
        self.assertAlmostEqual(float(dqn.pair_loss(outputs, torch.tensor([0, 1]))), 0.5, places=5)

    def test_contrast_by_hand(self):
        first = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        # Each code sees its partner at cosine 1 and two strangers at cosine 0.
        expected = -math.log(math.exp(1 / 0.3) / (math.exp(1 / 0.3) + 2))
        self.assertAlmostEqual(float(contrast.contrast(first, first.clone())), expected, places=5)

    def test_bottleneck_vanishes_only_for_equal_views(self):
        first = torch.tensor([[0.3, -1.0]])
        self.assertAlmostEqual(float(contrast.bottleneck(first, first)), 0.0, places=6)
        self.assertGreater(float(contrast.bottleneck(first, -first)), 0.1)

    def test_gradients_against_differences(self):
        torch.manual_seed(1)
        labels = torch.tensor([0, 1, 0, 2])
        for loss in (dhn.pair_loss, dqn.pair_loss):
            outputs = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
            self.assertTrue(torch.autograd.gradcheck(lambda u, f=loss: f(u, labels), outputs))


class Steps(unittest.TestCase):
    def test_discrete_descent_never_raises_its_objective(self):
        torch.manual_seed(2)
        outputs, targets = torch.randn(60, 8), torch.nn.functional.one_hot(torch.randint(0, 4, (60,)), 4).float()
        codes = torch.where(torch.randn(60, 8) > 0, 1.0, -1.0)
        for _ in range(5):
            weights = dsdh.classifier(codes, targets)
            before = dsdh.objective(codes, outputs, targets, weights)
            codes = dsdh.descend(codes, outputs, targets, weights)
            self.assertLessEqual(float(dsdh.objective(codes, outputs, targets, weights)), float(before) + 1e-3)

    def test_descent_finds_the_best_of_all_codes(self):
        torch.manual_seed(3)
        outputs, targets, weights = torch.randn(1, 3), torch.randn(1, 2), torch.randn(3, 2)
        every = [torch.tensor([[a, b, c]]) for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)]
        best = min(float(dsdh.objective(code, outputs, targets, weights)) for code in every)
        found = min(
            float(dsdh.objective(dsdh.descend(code, outputs, targets, weights), outputs, targets, weights))
            for code in every
        )
        self.assertAlmostEqual(found, best, places=4)

    def test_quantiser_never_gets_worse(self):
        torch.manual_seed(4)
        vectors = torch.randn(400, 6)
        words, dqn.WORDS = dqn.WORDS, 16
        try:
            quantiser = dqn.Quantiser(vectors, 2, seed=1)
            error = lambda: float(((vectors - quantiser.decode(quantiser.choices)) ** 2).sum())
            before = error()
            for _ in range(3):
                quantiser.renew(vectors)
                self.assertLessEqual(error(), before * (1 + 1e-5))
                before = error()
        finally:
            dqn.WORDS = words


class Layouts(unittest.TestCase):
    def test_bits_are_packed_lowest_first(self):
        outputs = torch.tensor([[1.0, -1, -1, -1, -1, -1, -1, -1, 1.0]])
        self.assertEqual(loop.pack(outputs).tolist(), [[1, 1]])

    def test_average_precision_by_hand(self):
        scores = torch.tensor([[4.0, 3.0, 2.0, 1.0]])
        relevant = torch.tensor([[True, False, True, False]])
        self.assertAlmostEqual(loop.mean_average_precision(scores, relevant), (1 + 2 / 3) / 2, places=6)
        self.assertAlmostEqual(loop.mean_average_precision(scores, relevant, top=1), 1.0, places=6)

    def test_pooling_solves_the_system_of_the_paper(self):
        torch.manual_seed(5)
        head = networks.PooledHead(6, 4, hidden=0, mu=3.0)
        maps = torch.randn(2, 6, 2, 2)
        local = torch.nn.functional.normalize(maps.flatten(2), dim=1)[0].double()
        expected = torch.linalg.solve(local @ local.T + 3 * torch.eye(6, dtype=torch.double), local.sum(1))
        expected = expected / expected.norm()
        self.assertLess(float((head.pool(maps)[0].double() - expected).abs().max()), 1e-5)

    def test_local_features_are_places_and_views_follow_their_picture(self):
        pixels = torch.randint(0, 256, (3, 3, 8, 8), dtype=torch.uint8)
        features = local_features.describe_pictures(torch.nn.Identity(), pixels, size=8, views=2)
        self.assertEqual(features.shape, (9, 64, 3))
        third = data.network_input(pixels[2:], 8)[0]
        self.assertTrue(np.array_equal(features[6, 8 * 5 + 1], third[:, 5, 1].half().numpy()))
        self.assertFalse(np.array_equal(features[6], features[7]))

    def test_no_class_and_no_picture_is_on_both_sides(self):
        labels = torch.arange(10).repeat_interleave(30)
        pixels = torch.arange(300).view(-1, 1, 1, 1).repeat(1, 3, 2, 2)
        train, test = data.Pictures(pixels, labels), data.Pictures(pixels + 1000, labels)
        for seed, unseen in data.UNSEEN_CLASSES.items():
            split = data.split_unseen(train, test, seed)
            self.assertEqual(set(split.queries.labels.tolist()), set(unseen))
            self.assertFalse(set(split.training.labels.tolist()) & set(unseen))
        split = data.split_traditional(train, test, 1, queries=5, training=7)
        pictures = lambda part: set(part.pixels[:, 0, 0, 0].tolist())
        self.assertFalse(pictures(split.queries) & (pictures(split.training) | pictures(split.database)))
        self.assertTrue(pictures(split.training) <= pictures(split.database))
        nested = data.nested_traditional(train, test, 1) if len(train) > 5000 else data.nested_unseen(train, test, 1)
        self.assertFalse(pictures(nested.queries) & pictures(nested.training))
        self.assertTrue(pictures(nested.queries) <= pictures(data.split_unseen(train, test, 1).training))


class Coders(unittest.TestCase):
    def test_bitpool_gives_the_codes_of_pytorch(self):
        program = os.environ.get("BITPOOL_PROGRAM")
        try:
            import bitpool
        except ImportError:
            program = None
        if not program:
            self.skipTest("needs the Python package and BITPOOL_PROGRAM")
        torch.manual_seed(6)
        coder = networks.Coder(networks.SqueezeNet(), networks.GlobalHead(networks.SqueezeNet.outputs, 24)).eval()
        coder.head.linear.bias.data.normal_(std=1e-4)  # so that about half of the bits are one
        settings = loop.Settings("dhn", "cifar10", "traditional", "squeezenet", bits=24, seed=1, size=64)
        pixels = torch.randint(0, 256, (12, 3, 64, 64), dtype=torch.uint8)
        expected = loop.outputs_of(coder, data.Pictures(pixels, torch.zeros(12)), dataclasses.replace(settings, device="cpu"))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            run.export(loop.Result(coder, [], None, None, 0.0), settings, path / "net.onnx")
            mean = ",".join(map(str, networks.MEAN_BGR))
            command = [program, "coder", "from-onnx", path / "net.onnx", "--size", "64", "--mean", mean, "-o", path / "net.bpc"]
            subprocess.run(command, check=True, capture_output=True)
            red_first = pixels.flip(1).permute(0, 2, 3, 1).contiguous().numpy()
            codes = bitpool.Coder(path / "net.bpc").encode(list(red_first))
        bits = np.unpackbits(codes, axis=1, bitorder="little")[:, :24] > 0
        sure = expected.abs().numpy() > 1e-5
        self.assertGreater(sure.mean(), 0.9)
        self.assertTrue(0.2 < bits.mean() < 0.8)
        self.assertTrue(((expected.numpy() > 0) == bits)[sure].all())


if __name__ == "__main__":
    unittest.main()
