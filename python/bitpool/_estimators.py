"""Hash methods as estimators.

What a method is called, what it learns from, its options with their defaults and their meaning all come from the
library's registry of methods: a class here only says which entry is its own.
"""

from __future__ import annotations

import inspect
import json
import keyword
import numbers
import tempfile
import textwrap
import warnings
from typing import Any, ClassVar, Optional

import numpy as np

from . import _native
from ._errors import InvalidArgumentError
from ._features import FeatureSet, feature_set_of
from ._index import Path
from ._running import ProgressOption, run, whole_number
from ._samples import classes_of, vectors_of
from ._sklearn import BaseEstimator, NotFittedError, TransformerMixin

_COMMON_DOCS = {
    "random_state": "The same number gives the same model, at any number of threads. None: another one each time.",
    "n_threads": "How many threads to use; None: as many as the process may.",
    "preset": 'Where options that are None get their values: "default", or {}.',
}


def _parameter_name(option: str) -> str:
    """The parameter for an option: ``bits`` as scikit-learn would name it, and a Python keyword as ``lambda_``."""
    if option == "bits":
        return "n_bits"
    return option + "_" if keyword.iskeyword(option) else option


def _preset_values(method: str, option: dict[str, Any]) -> dict[str, Any]:
    """The values of an option in each preset that changes it."""
    values = {}
    for preset in _native.METHODS[method]["presets"]:
        settings = _native.Settings(method, _native.METHODS[method]["options"][0]["default"], preset, {})
        value = _native.option_value(settings, option["name"])
        if option["name"] != "bits" and value != option["default"]:
            values[preset] = type(option["default"])(value)
    return values


def _default(method: str, option: dict[str, Any]) -> Any:
    """The parameter's default: None where presets differ, so that every number counts as set."""
    return None if _preset_values(method, option) else option["default"]


def _signature(method: str) -> inspect.Signature:
    """The constructor's signature: ``n_bits``, then the method's options by name, then what all methods have."""
    entry = _native.METHODS[method]
    kinds = inspect.Parameter
    parameters = [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
    for option in entry["options"]:
        kind = kinds.POSITIONAL_OR_KEYWORD if option["name"] == "bits" else kinds.KEYWORD_ONLY
        parameters.append(kinds(_parameter_name(option["name"]), kind, default=_default(method, option)))
    if entry["presets"]:
        parameters.append(kinds("preset", kinds.KEYWORD_ONLY, default="default"))
    parameters.append(kinds("random_state", kinds.KEYWORD_ONLY, default=0))
    parameters.append(kinds("n_threads", kinds.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


def _make_init(cls: type, method: str) -> Any:
    signature = _signature(method)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        values = signature.bind(self, *args, **kwargs)
        values.apply_defaults()
        for name, value in list(values.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _make_doc(method: str, what: str) -> str:
    entry = _native.METHODS[method]
    lines = [f"{entry['title']} ({entry['publication']}).", "", what, "", "Parameters", "----------"]

    def add(name: str, default: Any, text: str) -> None:
        lines.append(f"{name} : default {default!r}")
        lines.extend(textwrap.wrap(text, 112, initial_indent="    ", subsequent_indent="    "))

    for option in entry["options"]:
        where = " (of local features)" if option["of_pooling"] else ""
        presets = {"default": option["default"], **_preset_values(method, option)}
        values = ", ".join(f'{value!r} with preset "{preset}"' for preset, value in presets.items())
        none = f" None: {values}." if len(presets) > 1 else ""
        add(_parameter_name(option["name"]), _default(method, option), option["help"] + where + "." + none)
    if entry["presets"]:
        add("preset", "default", _COMMON_DOCS["preset"].format(", ".join(map(repr, entry["presets"]))))
    add("random_state", 0, _COMMON_DOCS["random_state"])
    add("n_threads", None, _COMMON_DOCS["n_threads"])
    return "\n".join(lines)


class HashMethod(TransformerMixin, BaseEstimator):
    """What all estimators share: ``fit``, ``transform`` to packed codes, ``project`` to real numbers, and back.

    Fitted, an estimator has ``n_features_in_``, ``n_iter_``, ``objective_history_`` (what the method minimises, after
    each iteration), ``training_`` (all that is remembered of the training) and, where the encoder is linear,
    ``encoder_weights_`` and ``encoder_bias_``: a bit is 1 where ``X @ encoder_weights_.T + encoder_bias_`` is not
    negative.
    """

    _method: ClassVar[str]
    _entry: ClassVar[dict[str, Any]]
    _what: ClassVar[str] = ""

    def __init_subclass__(cls, method: Optional[str] = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if method is None:
            return
        cls._method = method
        cls._entry = _native.METHODS[method]
        cls.__init__ = _make_init(cls, method)  # type: ignore[misc]
        cls.__doc__ = _make_doc(method, cls._what)

    def fit(
        self, X: Any, y: Any = None, *, images_per_picture: int = 1, progress: ProgressOption = None
    ) -> HashMethod:
        """Learns from samples, and from the class of each (``y``) where the method does.

        ``images_per_picture`` is for vectors with views: every picture is followed by its views. Ctrl-C ends the
        training; where the method has learned something by then, the estimator is fitted with it.
        """
        samples = self._read(X, reset=True)
        images_per_picture = whole_number(images_per_picture, "images_per_picture", 1)
        n_pictures = len(samples) // images_per_picture
        if isinstance(samples, FeatureSet):
            n_pictures = len(samples) // samples.images_per_picture
        classes = None
        if self._entry["needs_labels"]:
            if y is None:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
            classes = classes_of(y, n_pictures)
        try:
            model, interruption = self._train(samples, classes, images_per_picture, progress)
        except InvalidArgumentError as error:
            shape = f"(n_samples={len(samples)}, n_features={self.n_features_in_})"
            raise InvalidArgumentError(f"{error} {shape}") from None
        if model is not None:
            self._keep(model)
        if interruption is not None:
            raise interruption
        return self

    def transform(self, X: Any, *, progress: ProgressOption = None) -> Any:
        """The packed codes of samples: ``uint8``, ``(n, ⌈n_bits/8⌉)``."""
        model = self._fitted_model()
        samples = self._read(X, reset=False)
        if isinstance(samples, FeatureSet):
            codes, _, failed = model.encode_features(samples._native, self._run(progress))
            _warn_of(failed, "a code of zeros")
            return codes
        return model.encode(samples, self._run(progress))

    def project(self, X: Any, *, progress: ProgressOption = None) -> Any:
        """The numbers whose signs are the codes: ``float32``, ``(n, n_bits)``. As queries they find more than codes."""
        model = self._fitted_model()
        samples = self._read(X, reset=False)
        if isinstance(samples, FeatureSet):
            _, projections, failed = model.encode_features(samples._native, self._run(progress))
            _warn_of(failed, "a row of zeros")
            return projections
        return model.project(samples, self._run(progress))

    def pool(self, X: Any, *, progress: ProgressOption = None) -> Any:
        """The vectors that images are aggregated to before they are hashed: ``float32``, ``(n, D)``."""
        model = self._fitted_model()
        if not model.takes_features:
            raise ValueError(f"{type(self).__name__} was fitted on vectors, so there is nothing to pool")
        vectors, failed = model.pool_features(self._read(X, reset=False)._native, self._run(progress))
        _warn_of(failed, "a row of zeros")
        return vectors

    def inverse_transform(self, codes: Any) -> Any:
        """The vectors that codes stand for, as well as the bits can tell: ``float32``, ``(n, D)``."""
        return self._fitted_model().reconstruct(np.asarray(codes))

    def save(self, path: Path) -> None:
        """Writes the model (.bpm) for ``bitpool.open_model`` and the program, and replaces an existing file."""
        self._fitted_model().save(path)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the bytes of the codes."""
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range((self._fitted_model().n_bits + 7) // 8)], dtype=object)

    def __getattr__(self, name: str) -> Any:
        # What the encoder consists of; made when it is asked for, since it may be large.
        if name.endswith("_") and not name.startswith("_") and "model_" in self.__dict__:
            parameters = self.model_.parameters()
            if name[:-1] in parameters:
                value = parameters[name[:-1]]
                return value[:, 0] if name.endswith("bias_") else value
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": self._entry["needs_labels"], "preserves_dtype": []}

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and newer
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = self._entry["needs_labels"]
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _read(self, X: Any, *, reset: bool) -> Any:
        """``X`` as an array of vectors, or as a feature set."""
        if isinstance(X, FeatureSet) or (not reset and self.model_.takes_features):
            samples: Any = feature_set_of(X)
            n_features = samples.dimension
        else:
            samples = vectors_of(X)
            n_features = samples.shape[1]
            if hasattr(self, "_check_feature_names"):
                self._check_feature_names(X, reset=reset)
        if reset:
            self.n_features_in_ = n_features
        elif n_features != self.n_features_in_:
            raise ValueError(
                f"X has {n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input"
            )
        return samples

    def _train(self, samples: Any, classes: Any, images_per_picture: int, progress: ProgressOption) -> Any:
        settings = self._settings()
        _native.require_valid(settings)
        training = run(self.n_threads, self.random_state, progress)
        if not isinstance(samples, FeatureSet):
            return _native.train_vectors(settings, samples, classes, images_per_picture, training)
        with tempfile.TemporaryDirectory(prefix="bitpool-") as scratch:
            return _native.train_features(settings, samples._native, classes, scratch, training)

    def _settings(self) -> _native.Settings:
        """The method with the options that were set; the others get their values from the preset."""
        options = {}
        for option in self._entry["options"]:
            value = getattr(self, _parameter_name(option["name"]))
            if option["name"] == "bits" or value == _default(self._method, option):
                continue
            if not isinstance(value, (numbers.Real, np.bool_)):
                raise InvalidArgumentError(f"{_parameter_name(option['name'])}: expected a number, got {value!r}")
            options[option["name"]] = float(value)
        return _native.Settings(self._method, self._valid_bits(), getattr(self, "preset", "default"), options)

    def _valid_bits(self) -> int:
        bits = self.n_bits
        if not isinstance(bits, (int, np.integer)) or not 1 <= bits <= _native.MAX_BITS:
            raise InvalidArgumentError(f"n_bits: expected a whole number from 1 to {_native.MAX_BITS}, got {bits!r}")
        return int(bits)

    def _run(self, progress: ProgressOption) -> _native.Run:
        return run(self.n_threads, progress=progress)

    def _keep(self, model: _native.Model) -> None:
        self.model_ = model
        self.n_features_in_ = model.n_features
        self.training_ = json.loads(model.training)
        iterations = self.training_.get("iterations", [])
        self.n_iter_ = len(iterations)
        self.objective_history_ = np.array([one["objective"] for one in iterations])

    def _fitted_model(self) -> _native.Model:
        if "model_" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return self.model_


def _warn_of(failed: list[tuple[int, str]], what: str) -> None:
    if failed:
        image, reason = failed[0]
        warnings.warn(f"{len(failed)} images have {what}, such as image {image}: {reason}", RuntimeWarning, 4)


class _VectorMethod(HashMethod):
    _what = "Learns from vectors, or from the pooled local features of a ``FeatureSet``."


class _LabelledMethod(HashMethod):
    _what = "Learns from vectors, or the pooled local features of a ``FeatureSet``, and the class of each."


class _JointMethod(HashMethod):
    _what = (
        "Learns how to aggregate the local features of images together with their codes. Takes a ``FeatureSet``, a list\n"
        "of ``(n_i, D)`` arrays or one ``(n, m, D)`` array."
    )

    def _read(self, X: Any, *, reset: bool) -> Any:
        return super()._read(feature_set_of(X), reset=reset)

    def _more_tags(self) -> dict[str, Any]:
        # The checks of scikit-learn only know vectors.
        return {**super()._more_tags(), "X_types": ["3darray"]}


class RBA(_VectorMethod, method="rba"):
    pass


class ITQ(_VectorMethod, method="itq"):
    pass


class KMH(_VectorMethod, method="kmh"):
    pass


class SPH(_VectorMethod, method="sph"):
    pass


class PCAH(_VectorMethod, method="pcah"):
    pass


class LSH(_VectorMethod, method="lsh"):
    pass


class BA(_VectorMethod, method="ba"):
    pass


class DeepBit(_VectorMethod, method="deepbit"):
    pass


class GraphBit(_VectorMethod, method="graphbit"):
    pass


class SADH(_VectorMethod, method="sadh"):
    pass


class CIBHash(_VectorMethod, method="cibhash"):
    pass


class SDH(_LabelledMethod, method="sdh"):
    pass


class KSH(_LabelledMethod, method="ksh"):
    pass


class BRE(_LabelledMethod, method="bre"):
    pass


class CCAITQ(_LabelledMethod, method="cca-itq"):
    pass


class SAH(_JointMethod, method="sah"):
    pass


class SASH(_JointMethod, method="sash"):
    pass


class SAV(_JointMethod, method="sav"):
    def _read(self, X: Any, *, reset: bool) -> Any:
        # A matrix holds vectors of pictures and their views.
        if not reset or getattr(X, "ndim", None) == 2:
            return HashMethod._read(self, X, reset=reset)
        return super()._read(X, reset=reset)


METHODS: dict[str, type[HashMethod]] = {
    cls._method: cls
    for family in (_VectorMethod, _LabelledMethod, _JointMethod)
    for cls in family.__subclasses__()
}


def open_model(path: Path) -> HashMethod:
    """The fitted estimator of a model file (.bpm), whoever wrote it."""
    model = _native.Model.open(path)
    cls = METHODS[model.method]
    options = json.loads(model.training).get("options", {})
    known = {option["name"] for option in cls._entry["options"]} - {"bits"}
    params = {_parameter_name(name): value for name, value in options.items() if name in known}
    if cls._entry["presets"] and "preset" in options:
        params["preset"] = options["preset"]
    estimator = cls(n_bits=model.n_bits, random_state=options.get("seed", 0), **params)  # type: ignore[call-arg]
    estimator._keep(model)
    return estimator
