#!/bin/bash
# Builds the programs here with nvcc and runs them under kreplay; needs an NVIDIA GPU. See run.py.
#   KREPLAY=/path/to/kreplay tests/cuda/run.sh [PART…]
exec python3 "$(dirname "$0")/run.py" "$@"
