"""Image retrieval with compact binary codes.

    itq = bitpool.ITQ(n_bits=64).fit(X)
    index = bitpool.Index(64)
    ids = index.add(itq.transform(X))
    distances, ids = index.search(itq.transform(Q), k=10)

docs/python.md has more.
"""

from typing import TYPE_CHECKING, Any

from . import metrics
from ._codes import hamming, pack, unpack
from ._errors import Error
from ._features import FeatureSet, open_vectors
from ._index import Index, Pairs, RangeSearchResult, RealSearchResult, SearchResult
from ._native import __version__
from ._pictures import (
    Coder,
    Decision,
    Duplicate,
    DuplicateGroup,
    DuplicateGroups,
    Library,
    Match,
    Matches,
    Picture,
    UpdateReport,
)
from ._running import Progress

if TYPE_CHECKING:
    from ._estimators import (
        BA,
        BRE,
        CCAITQ,
        ITQ,
        KMH,
        KSH,
        LSH,
        METHODS,
        PCAH,
        RBA,
        SADH,
        SAH,
        SASH,
        SAV,
        SDH,
        SPH,
        CIBHash,
        DeepBit,
        GraphBit,
        HashMethod,
        open_model,
    )

__all__ = [
    "BA",
    "BRE",
    "CCAITQ",
    "CIBHash",
    "Coder",
    "Decision",
    "DeepBit",
    "Duplicate",
    "DuplicateGroup",
    "DuplicateGroups",
    "Error",
    "FeatureSet",
    "GraphBit",
    "HashMethod",
    "ITQ",
    "Index",
    "KMH",
    "KSH",
    "LSH",
    "Library",
    "METHODS",
    "Match",
    "Matches",
    "PCAH",
    "Pairs",
    "Picture",
    "Progress",
    "RBA",
    "RangeSearchResult",
    "RealSearchResult",
    "SADH",
    "SAH",
    "SASH",
    "SAV",
    "SDH",
    "SPH",
    "SearchResult",
    "UpdateReport",
    "__version__",
    "hamming",
    "metrics",
    "open_model",
    "open_vectors",
    "pack",
    "unpack",
]


def __getattr__(name: str) -> Any:
    """Estimators are loaded when they are asked for: importing scikit-learn takes longer than all the rest."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _estimators

    value = globals()[name] = getattr(_estimators, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
