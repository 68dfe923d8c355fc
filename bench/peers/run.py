#!/usr/bin/env python3
"""Measures kreplay beside its peers on one machine with an NVIDIA GPU, in one run.

    KREPLAY=/path/to/kreplay python3 bench/peers/run.py OUT [PART…]

Builds the peers with nvcc, runs everything, and writes OUT/peers.jsonl (one result a line, see bench/README.md) and
OUT/raw.log (every command with what it printed). Parts: kernel_pass, memory_engine, amplification, training_step,
unselected_launch, values. Every command has a time limit, so that nothing hangs the run.
"""
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
KREPLAY = os.environ.get("KREPLAY", "kreplay")
OUT = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(os.environ.get("BUILD", "/tmp/kreplay-peers"))
PARTS = sys.argv[2:] or ["kernel_pass", "batch_pass", "memory_engine", "amplification", "unselected_launch", "values",
                         "training_step"]
PROFILE = BUILD / "run.kreplay"
NINE_PASSES = (
    "gpu__time_duration.sum,sm__cycles_active.sum,sm__inst_executed.sum,sm__inst_issued.sum,sm__inst_executed_pipe_alu.sum,"
    "sm__inst_executed_pipe_fma.sum,sm__inst_executed_pipe_fp64.sum,sm__inst_executed_pipe_lsu.sum,"
    "sm__inst_executed_pipe_tensor.sum,sm__inst_executed_pipe_xu.sum,"
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active,sm__throughput.avg.pct_of_peak_sustained_elapsed"
)
MEMORY = "dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors.sum,gpu__time_duration.sum"
VALUES = (
    "sm__inst_executed.sum,smsp__inst_executed.sum,l1tex__t_bytes.sum,l1tex__t_sectors.sum,lts__t_sectors.sum,"
    "lts__t_bytes.sum,dram__bytes_read.sum,dram__bytes_write.sum,sm__warps_launched.sum,sm__cycles_active.sum"
)
NCU = ["ncu", "--cache-control", "none", "--clock-control", "none", "-f"]

OUT.mkdir(parents=True, exist_ok=True)
BUILD.mkdir(parents=True, exist_ok=True)
raw = open(OUT / "raw.log", "a", buffering=1)
results = open(OUT / "peers.jsonl", "a", buffering=1)


def run(command, limit=120):
    """Runs a command; gives what it printed (both streams), its exit code and its seconds."""
    command = [str(word) for word in command]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        text, code = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired as error:
        text, code = f"{error.stdout} {error.stderr} TIME LIMIT {limit} s", 124
    seconds = time.monotonic() - begin
    raw.write(f"$ {' '.join(command)}\n{text}\n[exit {code}, {seconds:.3f} s]\n\n")
    return text, code, seconds


def query(field):
    return run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"])[0].strip().splitlines()[0]


MACHINE = {
    "commit": os.environ.get("COMMIT", "unknown"),
    "machine": query("name"),
    "driver": query("driver_version"),
    "date": datetime.date.today().isoformat(),
}


def result(bench, subject, case, metric, unit, values):
    """Writes a result; nothing is written where nothing was measured."""
    values = [value for value in values if value is not None]
    if not values:
        print(f"{bench} {subject} {case}: nothing measured", flush=True)
        return None
    median = statistics.median(values)
    line = dict(bench=bench, subject=subject, case=case, metric=metric, unit=unit, median=round(median, 6),
                min=round(min(values), 6), max=round(max(values), 6), n=len(values), **MACHINE)
    results.write(json.dumps(line) + "\n")
    print(f"{bench:18} {subject:22} {case:55} {metric:22} {median:12.4f} {unit}", flush=True)
    return median


def loop(text):
    """The loop's time that a workload printed, if its check passed."""
    found = re.search(r"loop ([\d.]+) ms", text)
    wrong = re.search(r"wrong (\d+)", text)
    return float(found[1]) if found and not (wrong and int(wrong[1])) else None


def kreplay(options, program, limit=120):
    return run([KREPLAY, "profile", "--device", "cuda", "-q", "--overwrite", "-o", PROFILE, *options, "--", *program], limit)


def slope(measure, few, many):
    """Milliseconds a dispatch, the first ones' preparations left out."""
    first, last = measure(few), measure(many)
    return None if first is None or last is None else (last - first) / (many - few)


def in_place(resident, written):
    return lambda count: [BUILD / "in_place", resident, count, written]


def build():
    commands = [
        ["nvcc", "-O2", "-arch=native", "-o", BUILD / "in_place", HERE / "in_place.cu"],
        ["nvcc", "-x", "cu", "-O2", "-arch=native", "-o", BUILD / "range_replay", HERE / "range_replay.cpp", "-lcuda", "-lcupti",
         "-lnvperf_host", "-lnvperf_target"],
        ["nvcc", "-O2", "-arch=native", "-o", BUILD / "memory_peers", HERE / "memory_peers.cu", "-lcuda", "-lcheckpoint"],
    ]
    folders = ["/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"]
    folders += [str(path.parent) for path in pathlib.Path("/").glob("opt/*/.venv/lib/python3*/site-packages/nvidia/cu13/lib/libcheckpoint.so")]
    paths = [option for folder in folders for option in ("-L" + folder, "-Xlinker", "-rpath=" + folder)]
    includes = ["-I/usr/local/cuda/extras/CUPTI/include"]
    for command in commands:
        text, code, _ = run(command + paths + includes)
        if code:
            print("not built:", command[-1], text[-600:], flush=True)


def kernel_pass():
    for resident in (64, 1024):
        case = f"kernel window, {resident} MiB resident, 1 MiB written, nine-pass metrics"
        program = in_place(resident, 1024)
        passes = {}

        def ours(count):
            text, _, _ = kreplay(["--window", "kernel", "-c", NINE_PASSES], program(count))
            return loop(text)

        def cupti(count):
            text, _, _ = run([BUILD / "range_replay", resident, count, 1024, NINE_PASSES])
            found = re.search(r"passes (\d+)", text)
            passes["cupti"] = int(found[1]) if found else None
            return loop(text)

        def ncu(count):
            text, _, _ = run([*NCU, "-k", "regex:step", "--metrics", NINE_PASSES, *program(count)], 60)
            found = re.search(r"(\d+) passes", text)
            passes["ncu"] = int(found[1]) if found else None
            return loop(text)

        for subject, measure, few, many, times in (("kreplay", ours, 4, 24, 2), ("cupti_kernel_replay", cupti, 4, 24, 2), ("ncu", ncu, 3, 9, 1)):
            each = [slope(measure, few, many) for _ in range(times)]
            count = passes.get({"cupti_kernel_replay": "cupti"}.get(subject, subject))
            if subject == "kreplay":
                counts = [len(dispatch["counters"]) and dispatch["passes"] for dispatch in dispatches()]
                count = max(counts, default=None)
            result("kernel_pass", subject, case, "ms_per_kernel", "ms", each)
            if count:
                result("kernel_pass", subject, case, "passes", "passes", [count])
                result("kernel_pass", subject, case, "ms_per_kernel_pass", "ms", [e / count for e in each if e is not None])


def whole(options, program, limit=150):
    """Milliseconds of the whole command: a batch window may close at the program's end, after its loop."""
    def measure(count):
        text, code, seconds = kreplay(options, program(count), limit)
        return seconds * 1e3 if code == 0 and loop(text) is not None else None
    return measure


def batch_pass():
    for metrics, name in ((NINE_PASSES, "nine-pass metrics"), (MEMORY, "memory metrics")):
        case = f"batch window, 64 MiB resident, 1 MiB written, 1000 launches, {name}"
        each = [slope(whole(["-c", metrics], in_place(64, 1024)), 500, 1500)]
        found = [d for d in dispatches() if d["outcome"] == "replayed"]
        passes = max((d["passes"] for d in found), default=0)
        result("kernel_pass", "kreplay", case, "ms_per_kernel", "ms", each)
        result("kernel_pass", "kreplay", case, "passes", "passes", [passes] if passes else [])
        result("kernel_pass", "kreplay", case, "ms_per_kernel_pass", "ms", [e / passes for e in each if e is not None and passes])
        result("kernel_pass", "kreplay", case, "dispatches_replayed", "dispatches", [len(found)])
    case = "batch window, 1024 MiB resident, 1 MiB written, 5 passes"
    each = [slope(whole(["--set", "none", "--passes", "5"], in_place(1024, 1024)), 200, 2200) for _ in range(2)]
    result("memory_engine", "kreplay", case, "ms_per_dispatch", "ms", each)


def dispatches():
    text, code, _ = run([KREPLAY, "report", PROFILE, "--format", "json"])
    return json.loads(text[text.index("{"):])["dispatches"] if code == 0 else []


def memory_engine():
    passes = 5
    for resident in (64, 1024, 4096, 32768):
        bench = "memory_engine" if resident == 1024 else "footprint_slope"
        case = f"kernel window, {resident} MiB resident, 1 MiB written, {passes} passes"
        many = 220 if resident <= 1024 else 40
        for subject, options in (("kreplay safe", ["--shadow", "safe"]), ("kreplay trusted", ["--shadow", "trusted"])):
            measure = lambda count: loop(kreplay(["--window", "kernel", "--set", "none", "--passes", passes, *options], in_place(resident, 1024)(count))[0])
            result(bench, subject, case, "ms_per_dispatch", "ms", [slope(measure, 20, many) for _ in range(3 if resident == 1024 else 2)])
        peers = [("libcheckpoint", "checkpoint", 20), ("libcheckpoint OPT_TRANSFER", "checkpoint_transfer", 20), ("full device copy", "device", 20)]
        if resident <= 4096:
            peers.append(("full pinned copy", "pinned", 5))
        if resident <= 1024:
            peers.append(("full pageable copy", "pageable", 3))
        for subject, method, count in peers:
            text, _, _ = run([BUILD / "memory_peers", resident, 1024, passes, count, method], 60)
            found = re.search(r"median ([\d.]+) min ([\d.]+) max ([\d.]+) n (\d+) wrong 0\b", text)
            result(bench, subject, case, "ms_per_dispatch", "ms", [float(found[1])] if found else [])


def amplification():
    for written in (1024, 16384, 262144):
        kreplay(["--window", "kernel", "--set", "none", "--passes", "5", "--kernel", "step"], in_place(1024, written)(5))
        ratios = [d["restored_bytes"] / (written * 1024 * (d["passes"] - 1)) for d in dispatches() if d["outcome"] == "replayed"]
        result("amplification", "kreplay", f"1024 MiB resident, {written >> 10} MiB written, 5 passes", "restored_per_written", "ratio", ratios)
        whole = (1024 * 1024 + written) / written
        result("amplification", "full copy", f"1024 MiB resident, {written >> 10} MiB written, 5 passes", "restored_per_written", "ratio", [whole])


def unselected_launch():
    count = 20000
    program = [BUILD / "in_place", 0, count, 4]
    plain = [loop(run(program)[0]) for _ in range(5)]
    filtered = [loop(kreplay(["--set", "none", "--kernel", "no_such_kernel"], program)[0]) for _ in range(5)]
    base = statistics.median(plain)
    result("unselected_launch", "unprofiled", f"{count} launches", "us_per_launch", "us", [p / count * 1e3 for p in plain])
    result("unselected_launch", "kreplay", f"{count} launches, filtered out", "us_per_launch", "us", [f / count * 1e3 for f in filtered if f])
    result("unselected_launch", "kreplay", f"{count} launches, filtered out", "added_us_per_launch", "us", [(f - base) / count * 1e3 for f in filtered if f])


def values():
    program = in_place(64, 1024)(8)
    kreplay(["--window", "kernel", "-c", VALUES, "--kernel", "step"], program)
    ours = {}
    for dispatch in dispatches():
        for counter in dispatch["counters"]:
            ours.setdefault(counter["name"], []).append(counter["value"])
    text, _, _ = run([*NCU, "-k", "regex:step", "--csv", "--page", "raw", "--print-units", "base", "--metrics",
                      VALUES + ",profiler__replayer_bytes_mem_accessible.avg,profiler__replayer_bytes_mem_backed_up.avg,profiler__replayer_passes", *program], 90)
    theirs = {}
    rows = [line for line in text.splitlines() if line.startswith('"')]
    if rows:
        import csv
        table = list(csv.reader(rows))
        for row in table[2:]:
            for name, value in zip(table[0], row):
                if name in VALUES or name.startswith("profiler__"):
                    theirs.setdefault(name, []).append(float(value.replace(",", "") or "nan"))
    case = "64 MiB resident, 1 MiB written in place, 8 dispatches"
    for name in VALUES.split(","):
        result("values", "kreplay", case, name, "count", ours.get(name, []))
        result("values", "ncu", case, name, "count", theirs.get(name, []))
    for name in theirs:
        if name.startswith("profiler__"):
            result("values", "ncu", case, name, "count", theirs[name])
    result("values", "kreplay", case, "footprint_bytes", "B", [d["footprint_bytes"] for d in dispatches() if d["outcome"] != "not_selected"])


def training_step():
    program = ["python3", HERE / "train_step.py", "1024", "1"]
    losses = lambda text: re.search(r"losses (.*)", text)[1].strip() if "losses" in text else None
    plain = [run(program) for _ in range(2)]
    case = "train_step.py 1024 1, nine-pass metrics, whole command"
    result("training_step", "unprofiled", case, "seconds", "s", [seconds for _, code, seconds in plain if code == 0])
    for window, times in (("auto", 2), ("kernel", 1)):
        subject = "kreplay" if window == "auto" else "kreplay --window kernel"
        ours = [kreplay(["--window", window, "-c", NINE_PASSES], program, 200) for _ in range(times)]
        result("training_step", subject, case, "seconds", "s", [seconds for _, code, seconds in ours if code == 0])
        result("training_step", subject, case, "losses_identical", "bool", [float(losses(text) == losses(plain[0][0])) for text, _, _ in ours])
        found = dispatches()
        result("training_step", subject, case, "dispatches_replayed", "dispatches", [sum(d["outcome"] == "replayed" for d in found)])
        result("training_step", subject, case, "dispatches_declined", "dispatches", [sum(d["outcome"] == "declined" for d in found)])
        result("training_step", subject, case, "dispatches_with_values", "dispatches", [sum(bool(d["counters"]) for d in found)])
        result("training_step", subject, case, "divergent", "dispatches", [sum(bool(d["divergent"]) for d in found)])
    text, code, seconds = run([*NCU, "--metrics", NINE_PASSES, "-o", BUILD / "ncu", *program], 150)
    result("training_step", "ncu", case, "seconds", "s", [seconds] if code == 0 else [])
    program = ["python3", HERE / "train_step.py", "1024", "20"]
    plain = run(program)
    for metrics, name in ((NINE_PASSES, "nine-pass metrics"), (MEMORY, "memory metrics")):
        case = f"train_step.py 1024 20, {name}"
        text, code, seconds = kreplay(["-c", metrics], program, 200)
        found = dispatches()
        replayed = [d for d in found if d["outcome"] == "replayed"]
        passes = max((d["passes"] for d in replayed), default=0)
        result("training_script", "kreplay", case, "seconds", "s", [seconds] if code == 0 else [])
        result("training_script", "kreplay", case, "losses_identical", "bool", [float(losses(text) == losses(plain[0]))])
        result("training_script", "kreplay", case, "dispatches_replayed", "dispatches", [len(replayed)])
        result("training_script", "kreplay", case, "dispatches_with_values", "dispatches", [sum(bool(d["counters"]) for d in found)])
        result("training_script", "kreplay", case, "divergent", "dispatches", [sum(bool(d["divergent"]) for d in found)])
        if replayed and passes:
            result("training_script", "kreplay", case, "ms_per_kernel_pass", "ms", [(seconds - plain[2]) * 1e3 / len(replayed) / passes])
    result("training_script", "unprofiled", "train_step.py 1024 20", "seconds", "s", [plain[2]])


build()
for part in PARTS:
    begin = time.monotonic()
    try:
        globals()[part]()
    except Exception as error:  # one part that fails must not take the others along
        print(f"{part} failed: {error!r}", flush=True)
    print(f"-- {part}: {time.monotonic() - begin:.1f} s", flush=True)
