"""What estimators are made of: scikit-learn's base classes, or stand-ins where it is not installed."""

from __future__ import annotations

import inspect
from typing import Any

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.exceptions import NotFittedError
except ImportError:

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by their names, as scikit-learn's class has them."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The values of the constructor's parameters."""
            return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

        def set_params(self, **params: Any) -> Any:
            """Sets parameters of the constructor."""
            for name, value in params.items():
                if name not in inspect.signature(type(self)).parameters:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self)).parameters
            changed = {name: value for name, value in self.get_params().items() if value != defaults[name].default}
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    class TransformerMixin:  # type: ignore[no-redef]
        """``fit_transform`` of what has ``fit`` and ``transform``."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """Fits, and transforms the same samples."""
            return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """An estimator is used before ``fit``."""


__all__ = ["BaseEstimator", "NotFittedError", "TransformerMixin"]
