#!/usr/bin/env python3
"""Runs the programs of this folder under kreplay on a machine with an NVIDIA GPU.

    KREPLAY=/path/to/kreplay tests/cuda/run.sh [PART…]

A line for each run says PASS or FAIL, and why; the last line counts them; the exit code is 1 where one failed. Without
parts all of them run. Estimates are for an H200; every run has a time limit of its own.

    build       45 s   compiles the programs (done by itself where they are missing)
    uncounted   60 s   every program at 1, 2, 5 and 9 passes, kernel and batch windows, nothing counted
    counted    290 s   every program with counters, kernel and batch windows; warps against each launch's geometry
    sampled     50 s   programs of several streams, threads and contexts by sampling, kernels of nothing to a second, the sets
    filters     20 s   --kernel, --exclude, --skip and --count, in both kinds of windows
    restore     15 s   the restore left out: in-place programs must come out wrong
    frees       20 s   memory freed to pools within batch windows: what ends windows, and how long they are
    flush       10 s   --cache flush
    faults      30 s   spinning kernels, dying programs, a killed command, bad requests
    graphs       6 s   CUDA graphs
    inference   40 s   CUDA graphs under PyTorch
    python     120 s   PyTorch with three allocators, Triton, CuPy, JAX, torch.profiler: as unprofiled, bit for bit
    permission  10 s   an ordinary user, who may not count
    together    10 s   two programs that are profiled at the same time on one GPU
    company     70 s   another process computes on the GPU, from the beginning or from the middle: what it does is not counted
    devices     10 s   two GPUs of one host (skipped where there is one)

KREPLAY names the command, BUILD a folder for builds (default /tmp/kreplay-cuda-tests), JOBS how many uncounted runs go on
at once (default 4).
"""
import sys
import time

import failures
import frameworks
import harness
import native
import shared

PARTS = {"build": None, "uncounted": native.uncounted, "counted": native.counted, "sampled": native.sampled, "filters": native.filters,
         "restore": native.restore, "frees": native.frees, "flush": native.flush, "faults": failures.faults, "graphs": frameworks.graphs,
         "inference": frameworks.graph_inference, "python": frameworks.python_programs, "permission": failures.permission,
         "together": shared.together, "company": shared.company, "devices": shared.devices}


def main():
    chosen = sys.argv[1:] or list(PARTS)
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        sys.exit(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    harness.build()
    for part in chosen:
        begin = time.monotonic()
        try:
            if PARTS[part]:
                PARTS[part]()
        except Exception as error:  # the other parts still run
            harness.say(False, part, time.monotonic() - begin, repr(error))
        print(f"-- {part}: {time.monotonic() - begin:.0f} s", flush=True)
    results = harness.results
    print(f"{results['PASS']} passed, {results['FAIL']} failed, {results['SKIP']} skipped")
    return 1 if results["FAIL"] else 0


sys.exit(main())
