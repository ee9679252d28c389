"""``python3 -m bitpool.cluster``: the command, where it is not installed."""

import sys

from ._command import main

if __name__ == "__main__":  # workers import this file too
    sys.exit(main())
