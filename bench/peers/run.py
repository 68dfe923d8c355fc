#!/usr/bin/env python3
"""Measures kreplay beside its peers on one machine with an NVIDIA GPU, in one run.

    KREPLAY=/path/to/kreplay KREPLAY_UNITS=/path/to/units COMMIT=… python3 bench/peers/run.py OUT [PART…]

Builds the peers with nvcc, runs the parts, and writes OUT/peers.jsonl (one result a line, see bench/README.md) and
OUT/raw.log (every command with what it printed, long outputs shortened). Every command has a time limit. Seconds on an H200:

    kernels.py    kernel_pass 45, batch_pass 58, unselected_launch 9, recording 7, large 15, inline 25
    memory.py     memory_engine 42, operations 8, host_tier 15, footprint_slope 130, amplification 5, replayer 5
    programs.py   training_step 136, training_script 260, graph_inference 41
    values.py     values 9, range_traffic 10
    kinds.py      kinds 75
    prices.py     prices 25 at most, reach 15

Without parts all of them run: about 14 minutes and 40 s of compiling.
"""
import pathlib
import sys
import time

import kernels
import kinds
import measure
import memory
import prices
import programs
import values

PARTS = {
    part.__name__: part
    for part in (kernels.kernel_pass, kernels.batch_pass, kernels.unselected_launch, kernels.recording, kernels.large, kernels.inline,
                 memory.memory_engine, memory.operations, memory.host_tier, memory.footprint_slope, memory.amplification, memory.replayer,
                 programs.training_step, programs.training_script, programs.graph_inference, values.values, values.range_traffic,
                 kinds.kinds, prices.prices, prices.reach)
}


def main():
    if len(sys.argv) < 2 or any(part not in PARTS for part in sys.argv[2:]):
        sys.exit(f"usage: run.py OUT [PART…]; parts: {', '.join(PARTS)}")
    measure.begin(pathlib.Path(sys.argv[1]).resolve())
    measure.build()
    for name in sys.argv[2:] or PARTS:
        begin = time.monotonic()
        try:
            PARTS[name]()
        except Exception as error:  # one part that fails must not take the others along
            print(f"{name} failed: {error!r}", flush=True)
        print(f"-- {name}: {time.monotonic() - begin:.1f} s", flush=True)


main()
