# The estimators, whose constructors are made from the registry of methods when they are imported.
from typing import Any, Optional, TypeVar

import numpy as np
import numpy.typing as npt

from . import _native
from ._index import Path
from ._running import ProgressOption
from ._sklearn import BaseEstimator, TransformerMixin

_Self = TypeVar("_Self", bound=HashMethod)

class HashMethod(TransformerMixin, BaseEstimator):
    model_: _native.Model
    n_features_in_: int
    n_iter_: int
    objective_history_: npt.NDArray[np.float64]
    training_: dict[str, Any]
    def __init_subclass__(cls, method: Optional[str] = ..., **kwargs: Any) -> None: ...
    def fit(
        self: _Self, X: Any, y: Any = ..., *, images_per_picture: int = ..., progress: ProgressOption = ...
    ) -> _Self: ...
    def transform(self, X: Any, *, progress: ProgressOption = ...) -> npt.NDArray[np.uint8]: ...
    def project(self, X: Any, *, progress: ProgressOption = ...) -> npt.NDArray[np.float32]: ...
    def pool(self, X: Any, *, progress: ProgressOption = ...) -> npt.NDArray[np.float32]: ...
    def inverse_transform(self, codes: npt.ArrayLike) -> npt.NDArray[np.float32]: ...
    def save(self, path: Path) -> None: ...
    def get_feature_names_out(self, input_features: Any = ...) -> npt.NDArray[np.object_]: ...
    def __getattr__(self, name: str) -> Any: ...
    def __sklearn_is_fitted__(self) -> bool: ...
    def __sklearn_tags__(self) -> Any: ...

class RBA(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        iterations: int = ...,
        lambda_: float = ...,
        beta: Optional[float] = ...,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        preset: str = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class ITQ(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        iterations: int = ...,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class KMH(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        iterations: int = ...,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class SPH(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        iterations: int = ...,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class PCAH(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class LSH(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class BA(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class DeepBit(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        steps: int = ...,
        batch: int = ...,
        learning_rate: float = ...,
        view_steps: int = ...,
        view_weight: float = ...,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class GraphBit(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        epochs: int = ...,
        edge_epochs: int = ...,
        batch: int = ...,
        learning_rate: float = ...,
        certainty: float = ...,
        fidelity: float = ...,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class SADH(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        rounds: int = ...,
        epochs: int = ...,
        batch: int = ...,
        learning_rate: float = ...,
        anchors: int = ...,
        nearest: int = ...,
        balance: float = ...,
        independence: float = ...,
        code_steps: int = ...,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class CIBHash(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        temperature: float = ...,
        divergence: float = ...,
        hidden: int = ...,
        epochs: int = ...,
        batch: int = ...,
        learning_rate: float = ...,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class SDH(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class KSH(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class BRE(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class CCAITQ(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        mu: float = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class SAH(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        iterations: int = ...,
        lambda_: float = ...,
        beta: Optional[float] = ...,
        gamma: float = ...,
        mu: Optional[float] = ...,
        normalise: bool = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        preset: str = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class SASH(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        iterations: int = ...,
        lambda_: Optional[float] = ...,
        beta: Optional[float] = ...,
        gamma: float = ...,
        mu: float = ...,
        normalise: bool = ...,
        alpha: Optional[float] = ...,
        anchors: int = ...,
        kernel_width: float = ...,
        kernel_ridge: float = ...,
        kernel_vectors: float = ...,
        whiten: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        preset: str = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

class SAV(HashMethod):
    def __init__(
        self,
        n_bits: int = ...,
        *,
        temperature: float = ...,
        epochs: int = ...,
        hidden: int = ...,
        learn_pooling: bool = ...,
        mu: float = ...,
        normalise: bool = ...,
        epsilon: float = ...,
        views: int = ...,
        random_state: Any = ...,
        n_threads: Optional[int] = ...,
    ) -> None: ...

METHODS: dict[str, type[HashMethod]]

def open_model(path: Path) -> HashMethod: ...
