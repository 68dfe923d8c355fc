"""The memory engine alone, without counters: by footprint, by write set, beside the peers."""
import json
import os
import re

from measure import BUILD, NCU, NINE_PASSES, dispatches, in_loop, in_place, kreplay, report, result, run, slope, whole

# The unit tests of the CUDA backend, as cargo builds them.
UNITS = os.environ.get("KREPLAY_UNITS", "kreplay-cuda-units")
PASSES = 5
OURS = (("kreplay safe", ["--shadow", "safe"]), ("kreplay trusted", ["--shadow", "trusted"]))


def ours(resident, options):
    options = ["--window", "kernel", "--set", "none", "--passes", PASSES, *options]
    return in_loop(options, in_place(resident, 1024))


def peers(bench, case, resident, methods):
    """Runs other ways to put memory back; gives the medians of those that ended right, by subject."""
    medians = {}
    for subject, method, count in methods:
        text, _, _ = run([BUILD / "memory_peers", resident, 1024, PASSES, count, method], 60)
        found = re.search(r"median ([\d.]+) min ([\d.]+) max ([\d.]+) n (\d+) wrong 0\b", text)
        median = result(bench, subject, case, "ms_per_dispatch", "ms", [float(found[1])] if found else [])
        if median is not None:
            medians[subject] = median
    return medians


def memory_engine():
    """42 s: 12 × 1.4 kreplay kernel windows, 8 × 1.9 batch windows, 10 peers."""
    case = f"kernel window, 1024 MiB resident, 1 MiB written, {PASSES} passes"
    for subject, options in OURS:
        result("memory_engine", subject, case, "ms_per_dispatch", "ms", [slope(ours(1024, options), 20, 220) for _ in range(3)])
    peers("memory_engine", case, 1024, (
        ("libcheckpoint", "checkpoint", 20), ("libcheckpoint OPT_TRANSFER", "checkpoint_transfer", 20), ("full device copy", "device", 20),
        ("full pinned copy", "pinned", 5), ("full pageable copy", "pageable", 3)))
    case = f"batch window, 1024 MiB resident, 1 MiB written, {PASSES} passes"
    for subject, options in OURS:
        measure = whole(["--window", "batch", "--set", "none", "--passes", PASSES, *options], in_place(1024, 1024))
        result("memory_engine", subject, case, "ms_per_dispatch", "ms", [slope(measure, 200, 4200) for _ in range(2)])


# Operations that move a known number of bytes: what is like the hashes beside a snapshot is read once, what differs is not read to its end.
MOVING = ("copy_kernel", "copy_driver", "compare_equal", "hash")


def operations():
    """8 s: the agent's copy, compare and hash alone, on the device's own clock, as shares of what its memory can move."""
    text, _, _ = run([UNITS, "--exact", "agent::gpu_tests::speed_of_the_operations", "--nocapture"], 60)
    found = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    peak = next((line["gb_per_s"] for line in found if line["bench"] == "peak"), None)
    small = {}
    for line in found:
        if line["bench"] == "peak":
            result("operations", "device", "its memory, by clock and width", "gb_per_s", "GB/s", [peak])
            continue
        name, bytes_, ranges = line["bench"], line["bytes"], line["ranges"]
        what, cut = name.replace("_", " "), f"in {ranges} range{'' if ranges == 1 else 's'}"
        case = f"{what}, {bytes_ >> 20} MiB {cut}"
        result("operations", "kreplay", case, "gb_per_s", "GB/s", [line["gb_per_s"]])
        if not peak or name not in MOVING:
            continue
        result("operations", "kreplay", case, "of_peak", "ratio", [line["gb_per_s"] / peak])
        if bytes_ == 64 << 20:
            small[name, ranges] = line
        # What an operation takes whatever it moves (a table of ranges, a launch) is a third of 64 MiB's time.
        if bytes_ == 1 << 30 and (known := small.get((name, ranges))):
            moved = line["gb_per_s"] * line["ms"] - known["gb_per_s"] * known["ms"]
            result("operations", "kreplay", f"{what}, each byte beyond 64 MiB {cut}", "of_peak", "ratio", [moved / (line["ms"] - known["ms"]) / peak])


def host_tier():
    """15 s: the device has no room for the snapshot."""
    case = f"kernel window, 1024 MiB resident, 1 MiB written, {PASSES} passes, snapshot on the host"
    for subject, options in OURS:
        measure = ours(1024, [*options, "--device-reserve", 1 << 20])
        result("host_tier", subject, case, "ms_per_dispatch", "ms", [slope(measure, 20, 120) for _ in range(2)])
    # What a profiler does that keeps its snapshot there.
    peers("host_tier", case, 1024, (("full pinned copy", "pinned", 5), ("full pageable copy", "pageable", 3)))


def footprint_slope():
    """130 s: three footprints, and the slope between the smallest and the largest; copies to the host take minutes for the largest one."""
    found = {}
    for resident in (64, 4096, 32768):
        case = f"kernel window, {resident} MiB resident, 1 MiB written, {PASSES} passes"
        for subject, options in OURS:
            # Trusted windows audit the first eight.
            few, many = (20, 220) if resident == 64 else (10, 40)
            median = result("footprint_slope", subject, case, "ms_per_dispatch", "ms", [slope(ours(resident, options), few, many) for _ in range(1 if resident > 4096 else 2)])
            if median is not None:
                found.setdefault(subject, []).append((resident / 1024, median))
        methods = [("libcheckpoint", "checkpoint", 10), ("libcheckpoint OPT_TRANSFER", "checkpoint_transfer", 10), ("full device copy", "device", 10)]
        methods += [("full pinned copy", "pinned", 10 if resident == 64 else 3)]
        if resident <= 4096:
            methods += [("full pageable copy", "pageable", 10 if resident == 64 else 3)]
        for subject, median in peers("footprint_slope", case, resident, methods).items():
            found.setdefault(subject, []).append((resident / 1024, median))
    for subject, points in found.items():
        if len(points) > 1:
            (small, least), (large, most) = points[0], points[-1]
            result("footprint_slope", subject, f"64 MiB to {large:.0f} GiB resident", "ms_per_gib", "ms/GiB", [(most - least) / (large - small)])


def amplification():
    """5 s."""
    for written in (1024, 16384, 262144):
        options = ["--window", "kernel", "--set", "none", "--passes", PASSES, "--kernel", r"\bstep\b"]
        kreplay(options, in_place(1024, written)(5))
        case = f"1024 MiB resident, {written >> 10} MiB written, {PASSES} passes"
        ratios = [d["restored_bytes"] / (written * 1024 * (d["passes"] - 1)) for d in dispatches() if d["outcome"] == "replayed"]
        result("amplification", "kreplay", case, "restored_per_written", "ratio", ratios)
        result("amplification", "full copy", case, "restored_per_written", "ratio", [(1024 * 1024 + written) / written])


def replayer():
    """5 s: what ncu says that its replay may reach and saves, beside ours."""
    for written in (1024, 16384):
        case = f"1024 MiB resident, {written >> 10} MiB written"
        program = in_place(1024, written)(2)
        names = ("profiler__replayer_bytes_mem_accessible.sum", "profiler__replayer_bytes_mem_backed_up.sum")
        text, _, _ = run([*NCU, "-k", "regex:step", "--launch-skip", 1, "--print-units", "base", "--metrics", ",".join([*names, NINE_PASSES]), *program], 60)
        passes = re.search(r"(\d+) passes", text)
        for name, metric in zip(names, ("footprint_bytes", "snapshot_bytes")):
            # It adds up what each pass may reach, and saved.
            found = re.search(rf"{name}\s+\S*\s+([\d,]+)", text)
            result("replayer", "ncu", case, metric, "B", [float(found[1].replace(",", "")) / int(passes[1])] if found and passes else [])
        kreplay(["--window", "kernel", "--set", "none", "--passes", PASSES, "--kernel", r"\bstep\b"], program)
        windows = report().get("run", {}).get("windows", [])[-1:]
        result("replayer", "kreplay", case, "footprint_bytes", "B", [window["footprint_bytes"] for window in windows])
        result("replayer", "kreplay", case, "snapshot_bytes", "B", [window["captured_bytes"] for window in windows])
        result("replayer", "kreplay", case, "write_set_bytes", "B", [window["write_set_bytes"] for window in windows])
