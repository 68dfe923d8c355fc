"""What a kernel-pass costs, in kernel and in batch windows; what a launch costs that is recorded, or left out."""
import re
import statistics

from measure import (BUILD, MEMORY, NCU, NINE_PASSES, backwards, dispatches, half, in_loop, in_place, kernel_passes, kreplay, loop,
                     outcomes, replayed, report, result, run, slope, whole)


def cupti(resident, metrics, kind, passes, limit=60):
    """CUPTI's own replay of the in-place kernel; notes its passes in `passes`."""

    def measure(count):
        text, _, _ = run([BUILD / "range_replay", resident, count, 1024, metrics, kind], limit)
        found = re.search(r"passes (\d+)", text)
        passes.append(int(found[1]) if found else None)
        return loop(text)

    return measure


def most_passes():
    return max((dispatch["passes"] for dispatch in replayed(dispatches())), default=None)


def by_pass(bench, subject, case, each, count):
    result(bench, subject, case, "ms_per_kernel", "ms", each)
    if count:
        result(bench, subject, case, "passes", "passes", [count])
        result(bench, subject, case, "ms_per_kernel_pass", "ms", [e / count for e in each if e is not None])


def kernel_pass():
    """45 s: 2 footprints × (2 × (1.6 + 2.6) kreplay + 2 × (1.1 + 1.9) CUPTI + 8 ncu)."""
    for resident in (64, 1024):
        case = f"kernel window, {resident} MiB resident, 1 MiB written, nine-pass metrics"
        program = in_place(resident, 1024)
        ours = in_loop(["--window", "kernel", "-c", NINE_PASSES], program)
        by_pass("kernel_pass", "kreplay", case, [slope(ours, 4, 16) for _ in range(2)], most_passes())
        passes = []
        theirs = cupti(resident, NINE_PASSES, "kernel", passes)
        each = [slope(theirs, 4, 16) for _ in range(2)]
        by_pass("kernel_pass", "cupti_kernel_replay", case, each, passes[-1])
        passes = []

        def ncu(count):
            text, _, _ = run([*NCU, "-k", "regex:step", "--metrics", NINE_PASSES, *program(count)], 60)
            found = re.search(r"(\d+) passes", text)
            passes.append(int(found[1]) if found else None)
            return loop(text)

        by_pass("kernel_pass", "ncu", case, [slope(ncu, 3, 9)], passes[-1])


def batch_pass():
    """58 s: nine passes (6 + 17) kreplay + 2 × 11 CUPTI; memory (2 + 2.5) × 2 kreplay + 2.5 CUPTI."""
    # What takes one pass is counted as the program launches it; what takes more is replayed, perhaps at the program's end.
    for metrics, name, times, ours in ((NINE_PASSES, "nine-pass metrics", 1, whole), (MEMORY, "L2 and DRAM counters", 2, in_loop)):
        case = f"batch window, 64 MiB resident, 1 MiB written, 1000 launches, {name}"
        each = [slope(ours(["--window", "batch", "-c", metrics], in_place(64, 1024)), 500, 1500) for _ in range(times)]
        found = dispatches()
        by_pass("kernel_pass", "kreplay", case, each, max((d["passes"] for d in replayed(found)), default=None))
        outcomes("kernel_pass", "kreplay", case, found)
        orders = [("cupti_bare_window", metrics)]
        if metrics == NINE_PASSES:
            orders.append(("cupti_bare_window, backwards", backwards(metrics)))
        for subject, order in orders:
            passes = []
            milliseconds = cupti(64, order, "user", passes, 90)(1000)
            each = [milliseconds / 1000 if milliseconds is not None else None]
            by_pass("kernel_pass", subject, case, each, passes[-1])


def added(bench, case, what, plain, ours, count):
    """Tells what a launch costs alone and more under kreplay, of so many that were timed."""
    each = lambda values, less=0: [(value - less) / count * 1e3 for value in values if value is not None]
    known = [value for value in plain if value is not None]
    result(bench, "unprofiled", case, "us_per_launch", "us", each(plain))
    result(bench, "kreplay", f"{case}, {what}", "us_per_launch", "us", each(ours))
    result(bench, "kreplay", f"{case}, {what}", "added_us_per_launch", "us", each(ours, statistics.median(known)) if known else [])


def unselected_launch():
    """10 s: 5 pairs of a second each, in turn, since one machine's launches differ from minute to minute."""
    count = 40000
    program = [BUILD / "in_place", 0, count, 4]
    plain, left_out = [], []
    for _ in range(5):
        plain.append(half(run(program)[0]))
        left_out.append(half(kreplay(["--set", "none", "--kernel", "no_such_kernel"], program)[0]))
    added("unselected_launch", f"the later {count // 2} of {count} launches", "filtered out", plain, left_out, count // 2)


def recording():
    """7 s: launches that a batch window records, which neither opens nor closes among those that are timed."""
    count = 450
    program = [BUILD / "in_place", 0, count, 4]
    plain, recorded = [], []
    for _ in range(4):
        plain.append(half(run(program)[0]))
        recorded.append(half(kreplay(["--set", "none", "--passes", "2", "--window", "batch"], program)[0]))
    added("recording", f"the later {count // 2} of {count} launches", "recorded in a batch window", plain, recorded, count // 2)


def large():
    """90 s: 10 000 dispatches at 1 GiB; five passes with counters of the multiprocessors 10 to 60, of memory 15, basic 15."""
    program = in_place(1024, 1024)(10_000)
    for name, options, limit in (
        ("5 groups of SM counters", ["-c", "sm__inst_executed.sum", "--passes", "5"], 150),
        ("5 groups of memory counters", ["-c", "dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors.sum", "--passes", "5"], 90),
        ("basic", ["--set", "basic"], 150),
    ):
        case = f"batch window, 1024 MiB resident, 1 MiB written, 10000 dispatches, {name}"
        text, code, seconds = kreplay(options, program, limit)
        if code != 0 or loop(text) is None:
            result("large", "kreplay", case, "seconds", "s", [])
            continue
        made = report()
        found, windows = made.get("dispatches", []), made.get("run", {}).get("windows", [])
        result("large", "kreplay", case, "seconds", "s", [seconds])
        outcomes("large", "kreplay", case, found)
        passes = kernel_passes(found)
        if passes:
            result("large", "kreplay", case, "ms_per_kernel_pass", "ms", [seconds * 1e3 / passes])
        if windows:
            moved = sum(window["restored_bytes"] + window["captured_bytes"] for window in windows)
            result("large", "kreplay", case, "bytes_moved", "B", [moved])
            result("large", "kreplay", case, "kernels_per_window", "dispatches", [len(found) / len(windows)])
    text, code, seconds = run(program)
    result("large", "unprofiled", "1024 MiB resident, 1 MiB written, 10000 dispatches", "seconds", "s", [seconds] if code == 0 else [])


def inline():
    """25 s: one group that samples in line, no replay: what it adds to a kernel, and what tracing alone does."""
    program = in_place(64, 1024)
    alone = in_place_loop(program)
    plain = [slope(alone, 500, 2500) for _ in range(3)]
    traced = in_place_loop(lambda count: ["env", f"CUDA_INJECTION64_PATH={BUILD / 'tracing.so'}", *program(count)])
    rows = [("tracing by CUPTI activities", "no counters", [slope(traced, 500, 2500) for _ in range(4)])]
    plan = (
        ("sm__cycles_active.sum,sm__inst_executed.sum,dram__bytes_read.sum", ["--fence", "on"], "one sampling group, --fence on"),
        (MEMORY, ["--fence", "on"], "one sampling group of L2 and DRAM counters, --fence on"),
        ("sm__cycles_active.sum,sm__inst_executed.sum,dram__bytes_read.sum", ["--fence", "off"], "one sampling group, --fence off"),
    )
    for metrics, options, case in plan:
        # Kernels are counted as the program launches them: what they cost is in its loop.
        each = [slope(in_loop(["-c", metrics, *options], program), 500, 2500) for _ in range(4)]
        found = dispatches()
        passes = max((dispatch["passes"] for dispatch in replayed(found)), default=0)
        rows.append(("kreplay", case, each if passes == 1 else []))
        outcomes("inline", "kreplay", case, found)
        bounds = [counter["bound"] / max(abs(counter["value"]), 1.0) for dispatch in found for counter in dispatch["counters"]
                  if counter.get("bound") is not None]
        result("inline", "kreplay", case, "bound_of_value", "ratio", [statistics.median(bounds)] if bounds else [])
    plain = [value for value in plain if value is not None]
    result("inline", "unprofiled", "the same loop", "us_per_kernel", "us", [value * 1e3 for value in plain])
    for subject, case, each in rows:
        added = [(value - statistics.median(plain)) * 1e3 for value in each if value is not None] if plain else []
        result("inline", subject, case, "added_us_per_kernel", "us", added)


def in_place_loop(program):
    """Milliseconds of a command's loop, by its number of launches."""
    return lambda count: loop(run(program(count))[0])
