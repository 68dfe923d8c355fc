#!/usr/bin/env python3
"""Runs the programs of this folder under kreplay on a machine with an NVIDIA GPU.

    KREPLAY=/path/to/kreplay tests/cuda/run.sh [PART…]

A line for each run says PASS or FAIL, and why; the last line counts them; the exit code is 1 where one failed. Without
parts all of them run. Estimates are for an H200; every run has a time limit of its own.

    build       45 s   compiles the programs (done by itself where they are missing)
    uncounted   60 s   every program at 1, 2, 5 and 9 passes, kernel and batch windows, nothing counted
    counted    260 s   every program with counters, kernel and batch windows; warps against each launch's geometry
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
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
KREPLAY = os.environ.get("KREPLAY", "kreplay")
KREPLAY = os.path.abspath(shutil.which(KREPLAY) or KREPLAY)
BUILD = pathlib.Path(os.environ.get("BUILD", "/tmp/kreplay-cuda-tests"))
JOBS = int(os.environ.get("JOBS", "4"))
# One pass, or a few where sampling takes part; the first shows which launch a value belongs to.
METRICS = (
    "sm__warps_launched.sum,sm__inst_executed.sum,sm__inst_executed_pipe_lsu.sum,l1tex__t_bytes.sum,lts__t_sectors.sum,"
    "dram__bytes_read.sum,gpu__time_duration.sum"
)
# About nine passes, which only ranges can count.
SEVERAL = METRICS + ",sm__throughput.avg.pct_of_peak_sustained_elapsed"
WARPS = "sm__warps_launched.sum"
# One group of sampling.
SAMPLED = "sm__cycles_active.sum,sm__inst_executed.sum"
PROGRAMS = (
    "in_place accumulate atomics append pointer_tables structures module_variables dynamic_parallelism cooperative clusters "
    "many_allocations streams threads per_thread contexts pools pool_reuse gone forking unloading constructing host_memory host_pages "
    "managed_variables sharing graphs printing fault filters silent copies"
).split()
OTHERS = "spinning dying lasting slow two_devices lengths subscriber".split()
# What two of them open.
LIBRARIES = {"unloading.so": HERE / "unloaded.cu", "constructing.so": HERE / "constructed.cu"}
# Reasons that dispatches of a program may decline with; anything else is a failure.
MAY_DECLINE = {
    "dynamic_parallelism": {"untracked_memory"},
    "host_memory": {"untracked_memory", "managed_memory"},
    "host_pages": {"untracked_memory"},
    "managed_variables": {"managed_memory"},
    "sharing": {"imported_memory"},
    "graphs": {"graph_launch"},
    "printing": {"untracked_memory"},
    "fault": {"agent_lost", "pass_failed"},
    # Nothing can be replayed within dlclose, which frees what a launch may use.
    "unloading": {"pass_failed"},
    # Nor within dlopen.
    "constructing": {"loader_held"},
}
# Atomic appends write elsewhere in each pass, which is reported.
MAY_DIVERGE = {"append"}
# Device-side launches are counted with the kernel that made them.
OTHER_WARPS = {"dynamic_parallelism"}

printing = threading.Lock()
results = collections.Counter()


def say(good, name, seconds, detail=""):
    """Prints the line of a run; `good` is None where it was left out."""
    word = "SKIP" if good is None else "PASS" if good else "FAIL"
    with printing:
        results[word] += 1
        print(" | ".join(f"{word} {name} ({seconds:.1f} s) {detail}".split("\n")).rstrip(" ;|"), flush=True)


class Run:
    """A command that was run under kreplay, with its report."""

    def __init__(self, name, options, program, limit=60, environment=None, prefix=()):
        self.file = BUILD / (re.sub(r"[^\w.-]+", "_", name) + ".kreplay")
        command = [*prefix, KREPLAY, "profile", "--device", "cuda", "-q", "--overwrite", "-o", self.file, *options, "--", *program]
        self.code, self.out, self.error, self.seconds = execute(command, limit, environment)
        report = execute([KREPLAY, "report", self.file, "--format", "json"], 60)[1] if self.file.exists() else ""
        try:
            report = json.loads(report)
        except ValueError:
            report = {}
        self.run, self.dispatches = report.get("run", {}), report.get("dispatches", [])
        self.outcomes = collections.Counter(d["reason"] or d["outcome"] for d in self.dispatches)
        self.divergent = sum(d["divergent"] for d in self.dispatches)
        self.windows = collections.Counter(window["kind"] for window in self.run.get("windows", []))

    def values(self, name):
        """The values of a counter, by dispatch; None where there is none."""
        return [next((c["value"] for c in d["counters"] if c["name"] == name), None) for d in self.dispatches]

    def detail(self):
        text = " ".join(f"{key}={count}" for key, count in sorted(self.outcomes.items()))
        windows = " ".join(f"{kind}-windows={count}" for kind, count in sorted(self.windows.items()))
        return f"exit {self.code} {text} {windows}" + (f" divergent={self.divergent}" if self.divergent else "")

    def tail(self):
        return " | ".join((self.out + self.error).strip().splitlines()[-3:])[:300]


def execute(command, limit, environment=None):
    """Runs a command; gives exit code, output, error output, seconds."""
    begin = time.monotonic()
    child = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        env={**os.environ, **(environment or {})}, start_new_session=True,
    )
    try:
        out, error = child.communicate(timeout=limit)
        return child.returncode, out, error, time.monotonic() - begin
    except subprocess.TimeoutExpired:
        # With everything that it started.
        os.killpg(child.pid, signal.SIGKILL)
        out, error = child.communicate()
        return 124, out, f"{error}\ntime limit of {limit} s", time.monotonic() - begin


def build():
    """Compiles what is missing or older than its source."""
    BUILD.mkdir(parents=True, exist_ok=True)

    def one(name):
        source, made = HERE / f"{name.removesuffix('.so')}.cu", BUILD / name
        source = LIBRARIES.get(name, source)
        if made.exists() and made.stat().st_mtime > max(source.stat().st_mtime, (HERE / "check.cuh").stat().st_mtime):
            return
        extra = {"dynamic_parallelism": ["-rdc=true", "-lcudadevrt"], "per_thread": ["--default-stream", "per-thread"]}.get(name, [])
        if name.endswith(".so"):
            extra = ["-shared", "-Xcompiler", "-fPIC"]
        if name == "subscriber":
            cupti = "/usr/local/cuda/extras/CUPTI"
            extra = ["-lcupti", f"-I{cupti}/include", f"-L{cupti}/lib64", "-Xlinker", f"-rpath={cupti}/lib64"]
        code, out, error, seconds = execute(
            ["nvcc", "-O2", "-arch=native", "-std=c++17", *extra, "-o", made, source, "-lcuda"], 300
        )
        if code:
            say(False, f"build {name}", seconds, (out + error)[-300:])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 4) as pool:
        list(pool.map(one, PROGRAMS + OTHERS + list(LIBRARIES)))


def right(run, program, counted, skipped_warps=False, lost=None):
    """What is wrong with a run of one of the programs; empty when nothing is. `lost`: as for uncounted_or_misplaced."""
    wrong = []
    if run.code != 0 or not run.out.strip().endswith(f"{program}: right"):
        wrong.append(f"ended with {run.code}: {run.tail()}")
    if not run.run:
        wrong.append("no report")
    reasons = {d["reason"] for d in run.dispatches if d["outcome"] == "declined"}
    unexpected = reasons - MAY_DECLINE.get(program, set())
    if unexpected:
        details = collections.Counter(d["detail"] for d in run.dispatches if d["reason"] in unexpected)
        told = ", ".join(f"{count} of: {detail}" for detail, count in details.most_common(8))
        wrong.append(f"declined: {reasons}: {told}")
    if run.divergent and program not in MAY_DIVERGE:
        wrong.append(f"{run.divergent} divergent")
    if not run.dispatches and program != "silent":
        wrong.append("no dispatches")
    if counted:
        wrong += uncounted_or_misplaced(run, None if skipped_warps or program in OTHER_WARPS else WARPS, lost)
    return wrong


def uncounted_or_misplaced(run, warps, lost=None):
    """Dispatches without values, but for those that note `lost` as the reason; and those whose warps are not those of their geometry."""
    wrong = []
    ran = [d for d in run.dispatches if d["outcome"] != "declined"]
    told = lambda d: lost and any("lost" in note and lost in note for note in d["notes"])
    without = sum(not d["counters"] and not told(d) for d in ran)
    if without:
        notes = {note for d in ran for note in d["notes"]}
        wrong.append(f"{without} of {len(ran)} without values {sorted(notes)[:2]}")
    if warps:
        for d, value in zip(run.dispatches, run.values(warps)):
            grid, block = d["grid"], d["block"]
            expected = grid[0] * grid[1] * grid[2] * ((block[0] * block[1] * block[2] + 31) // 32)
            if value is not None and value != expected:
                wrong.append(f"{d['kernel']} {grid} {block}: {value} warps, not {expected}")
                break
    return wrong


def check(name, run, wrong):
    say(not wrong, name, run.seconds, run.detail() + ("; " + "; ".join(wrong) if wrong else ""))


def uncounted():
    cases = [(n, w, p) for n in PROGRAMS for w in ("kernel", "batch") for p in (1, 2, 5, 9)]

    def one(case):
        program, window, passes = case
        name = f"uncounted {program} {window} x{passes}"
        run = Run(name, ["--set", "none", "--passes", passes, "--window", window], [BUILD / program])
        check(name, run, right(run, program, False))

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(one, cases))


def counted():
    for program in PROGRAMS:
        for window in ("kernel", "batch"):
            # A kernel window costs a switch for each pass.
            for options in (["-c", METRICS], ["-c", METRICS, "--passes", "2"] if window == "kernel" else ["-c", SEVERAL]):
                name = f"counted {program} {window} {'several' if options[-1] != METRICS else 'few'}"
                run = Run(name, [*options, "--window", window], [BUILD / program])
                # The other process of this one comes within the one window that there is.
                lost = "another process" if (program, window) == ("sharing", "batch") else None
                check(name, run, right(run, program, True, lost=lost))
    # One group that may be sampled, with several streams, threads and contexts. Alone on the GPU a window of one kernel costs less by
    # ranges, and a program of several contexts is not alone there.
    for program in ("contexts", "streams", "threads"):
        for window in ("kernel", "batch"):
            name = f"counted {program} {window} sampled"
            run = Run(name, ["-c", SAMPLED, "--window", window], [BUILD / program])
            wrong = right(run, program, True, skipped_warps=True)
            ways = {counter["way"] for d in run.dispatches for counter in d["counters"]}
            expected = [{"sampling"}] if window == "batch" or program == "contexts" else [{"sampling"}, {"ranges"}]
            check(name, run, wrong + ([f"counted by {sorted(map(str, ways))}"] if ways not in expected else []))
    lengths()
    for options in (["--set", "memory"], ["--set", "compute"], ["--set", "basic"], ["--set", "basic", "--shadow", "trusted"],
                    ["--set", "memory", "--verify", "all"]):
        name = "counted in_place " + " ".join(options)
        run = Run(name, options, [BUILD / "in_place"])
        check(name, run, right(run, "in_place", True, skipped_warps=True))


def lengths():
    """Kernels of nothing to a second, by ranges and by sampling: the same instructions, launch by launch."""
    instructions = "sm__inst_executed.sum"
    reference = Run("counted lengths ranges", ["-c", SEVERAL, "--window", "kernel"], [BUILD / "lengths"], limit=90)
    check("counted lengths ranges", reference, right(reference, "lengths", True))
    # In line nothing tells beforehand how long kernels are; where the time is taken first, that does.
    for name, options, may_lack in (("in line", ["-c", SAMPLED], 20), ("in replays", ["-c", f"gpu_time,{SAMPLED}"], 0)):
        run = Run(f"counted lengths sampled {name}", [*options, "--window", "batch"], [BUILD / "lengths"], limit=90)
        wrong = right(run, "lengths", False)
        pairs = list(zip(reference.values(instructions), run.values(instructions), run.dispatches))
        wrong += [f"{d['kernel']} {d['id']}: {value:.0f} instructions, not {known:.0f}"
                  for known, value, d in pairs if value is not None and value != known][:2]
        lacking = [d for _, value, d in pairs if value is None]
        wrong += [f"{d['kernel']} {d['id']} has no values and does not say why" for d in lacking if not any("lost" in note for note in d["notes"])][:2]
        if len(lacking) > may_lack or len(pairs) != len(reference.dispatches):
            wrong.append(f"{len(lacking)} of {len(pairs)} without values: {sorted({note for d in lacking for note in d['notes']})[:2]}")
        ways = {c["way"] for d in run.dispatches for c in d["counters"] if c["name"] == instructions}
        if ways != {"sampling"}:
            wrong.append(f"counted by {sorted(map(str, ways))}")
        say(not wrong, f"counted lengths sampled {name}", run.seconds, f"{run.detail()} without values={len(lacking)}; " + "; ".join(wrong))


def filters():
    cases = [
        (["--kernel", r"\b(even|odd)\b"], 48),
        (["--kernel", r"\beven\b"], 24),
        (["--exclude", "idle"], 48),
        (["--kernel", r"\bodd\b", "--skip", "5", "--count", "9"], 9),
        (["--kernel", "no_such_kernel"], 0),
    ]
    for window in ("kernel", "batch"):
        for options, expected in cases:
            name = f"filters {window} " + " ".join(options)
            run = Run(name, ["-c", METRICS if window == "kernel" else SEVERAL, "--window", window, *options], [BUILD / "filters"])
            wrong = right(run, "filters", True) if expected else []
            if run.code != 0 or len(run.dispatches) != expected:
                wrong.append(f"{len(run.dispatches)} dispatches, not {expected}, exit {run.code}")
            check(name, run, wrong)


def restore():
    for program in ("in_place", "accumulate", "module_variables", "pool_reuse", "atomics", "streams", "threads", "cooperative", "copies"):
        for window in ("kernel", "batch"):
            name = f"restore left out {program} {window}"
            options = ["--set", "none", "--passes", "3", "--window", window]
            run = Run(name, options, [BUILD / program], environment={"KREPLAY_TEST_SKIP_RESTORE": "1"})
            # What the program reads within a batch window is pass 0's; what the passes did shows in their outputs.
            seen = run.code == 1 and ": wrong" in run.out if window == "kernel" else run.divergent > 0
            check(name, run, [] if seen else ["nothing came out wrong"])


def frees():
    for options in (["--set", "none", "--passes", "5", "--verify", "all"], ["--set", "none", "--passes", "3", "--shadow", "trusted"],
                    ["--set", "memory"], ["-c", SEVERAL]):
        name = f"frees pool_reuse {' '.join(options[:2])} {options[-1] if options[0] == '--set' else ''}"
        run = Run(name, [*options, "--window", "batch"], [BUILD / "pool_reuse"])
        wrong = right(run, "pool_reuse", "none" not in options)
        reasons = collections.Counter(window["closed_by"] for window in run.run.get("windows", []))
        # The program reads, sets and trims seven times; each of these may end one window.
        if reasons["freed"] > 7:
            wrong.append("frees to a pool end windows")
        if reasons["failed"]:
            wrong.append("windows failed")
        text = " ".join(f"{reason}={count}" for reason, count in sorted(reasons.items()))
        say(not wrong, name, run.seconds, f"{run.detail()} closed by {text} | {run.tail()}; " + "; ".join(wrong))


def flush():
    read = {}
    for cache in ("none", "flush"):
        name = f"flush in_place --cache {cache}"
        run = Run(name, ["-c", METRICS, "--cache", cache, "--window", "kernel"], [BUILD / "in_place"])
        read[cache] = sum(value or 0 for value in run.values("dram__bytes_read.sum"))
        wrong = right(run, "in_place", True)
        if cache == "flush" and read["flush"] <= 2 * read["none"]:
            wrong.append("memory was not read more")
        say(not wrong, name, run.seconds, f"{run.detail()} read {read[cache]:.0f} B; " + "; ".join(wrong))
    run = Run("flush and batch", ["--cache", "flush", "--window", "batch"], [BUILD / "in_place"])
    say(run.code == 116, "flush and batch windows exclude each other", run.seconds, run.tail())


def faults():
    for window in ("kernel", "batch"):
        name = f"faults spinning {window}"
        options = ["--set", "none", "--passes", "3", "--window", window, "--pass-deadline", "500", "--drain-deadline", "1000"]
        run = Run(name, options, [BUILD / "spinning"])
        # In a batch window the program answers the kernel in pass 0, and the replays find the answer.
        good = run.code == 0 and (window == "batch" or any(d["outcome"] == "declined" for d in run.dispatches))
        check(name, run, [] if good else [run.tail()])
        # A kernel that nobody replays waits for the host on its thread's own stream: what is launched beside it declines in time.
        name = f"faults per_thread waiting {window}"
        options = ["--set", "none", "--passes", "3", "--window", window, "--exclude", "wait_for_host", "--pass-deadline", "500",
                   "--drain-deadline", "1000"]
        run = Run(name, options, [BUILD / "per_thread", "waiting"])
        good = run.code == 0 and "per_thread: right" in run.out and run.outcomes["drain_timeout"] > 0
        check(name, run, [] if good else [run.tail()])
        name = f"faults dying {window}"
        run = Run(name, ["--set", "none", "--passes", "3", "--window", window], [BUILD / "dying"])
        kept = run.outcomes["replayed"]
        check(name, run, [] if run.code == 128 + 9 and kept >= 8 else [f"{kept} records kept, 8 or more expected"])
    # The three launches of a constructor decline, whether there was a context before or not; the four behind it do not.
    for words in ([], ["late"]):
        name = f"faults constructing {' '.join(words)}"
        run = Run(name, ["-c", METRICS, "--window", "batch"], [BUILD / "constructing", *words])
        wrong = right(run, "constructing", True)
        if (run.outcomes["loader_held"], len(run.dispatches)) != (3, 7):
            wrong.append("three of seven launches were to decline")
        check(name, run, wrong)
    killed()
    code, out, error, seconds = execute([KREPLAY, "profile", "--device", "cuda", "-c", "sm__inst_executd.sum", "--", "true"], 60)
    say(code == 120 and "sm__inst_executed" in error, "faults unknown metric", seconds, error.strip()[:200])
    run = Run("faults another subscriber", ["--set", "none", "--passes", "2"], [BUILD / "subscriber"])
    told = [warning["text"] for warning in run.run.get("warnings", [])]
    good = run.code == 0 and "subscriber: right" in run.out and not run.dispatches and any("another tool has subscribed" in text for text in told)
    say(good, "faults another subscriber", run.seconds, f"{run.detail()} {told} {run.tail()}")
    run = Run("faults nothing launched", [], ["true"])
    say(run.code == 0, "faults a program that never uses the GPU", run.seconds, run.tail())
    if not list(pathlib.Path("/").glob("usr/local/cuda*")):
        return
    environment = {"KREPLAY_CUPTI": "/nonexistent/libcupti.so"}
    run = Run("faults no CUPTI there", ["--set", "none", "--passes", "2"], [BUILD / "in_place"], environment=environment)
    say(run.code == 0 and "in_place: right" in run.out, "faults a CUPTI that is not there", run.seconds, run.detail() + " " + run.tail())


def killed():
    """The command is killed; the program goes on."""
    begin = time.monotonic()
    with open(BUILD / "lasting.out", "w") as out:
        command = [KREPLAY, "profile", "--device", "cuda", "-q", "--overwrite", "-o", BUILD / "killed.kreplay", "--set", "none",
                   "--passes", "3", "--window", "kernel", "--", BUILD / "lasting"]
        child = subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(2.5)
        child.send_signal(signal.SIGKILL)
        child.wait()
    said = ""
    while time.monotonic() - begin < 40 and "lasting" not in said:
        time.sleep(0.2)
        said = (BUILD / "lasting.out").read_text()
    say("lasting: right" in said, "faults the command is killed", time.monotonic() - begin, said.strip())


# Runs without kreplay, by their program: several at once, since most of their time is imports.
plain_pool = concurrent.futures.ThreadPoolExecutor(4)
plain_runs = {}


def run_plain(program, limit=150):
    """Begins two runs without kreplay, where they have not begun."""
    key = tuple(str(word) for word in program)
    if key not in plain_runs:
        plain_runs[key] = [plain_pool.submit(execute, program, limit) for _ in range(2)]
    return plain_runs[key]


def as_unprofiled(name, options, program, limit=150, environment=None, most_declined=None):
    """A program that prints the same under kreplay as without."""
    plain = [future.result() for future in run_plain(program, limit)]
    if plain[0][0] != 0:
        return say(None, name, plain[0][3], "does not run here unprofiled: " + plain[0][2].strip()[-200:])
    repeats = plain[0][1] == plain[1][1]
    run = Run(name, options, program, limit, environment)
    wrong = []
    if run.code != 0:
        wrong.append(f"ended with {run.code}: {run.tail()}")
    elif not repeats:
        wrong.append("prints other values each time, profiled or not")
    elif run.out != plain[0][1]:
        other = [line for line in run.out.splitlines() if line not in plain[0][1].splitlines()]
        wrong.append(f"other values: {other[:2]}")
    if not run.outcomes["replayed"] and not run.outcomes["counted"]:
        wrong.append("nothing was profiled")
    if run.divergent:
        kernels = {d["kernel"][:60] for d in run.dispatches if d["divergent"]}
        wrong.append(f"divergent: {sorted(kernels)[:3]}")
    if most_declined is not None:
        reasons = {d["reason"] for d in run.dispatches if d["outcome"] == "declined"}
        if reasons - most_declined:
            wrong.append(f"declined: {reasons}")
    if "--set" not in options or "none" not in options:
        wrong += uncounted_or_misplaced(run, None)
    say(not wrong, name, run.seconds, f"{run.detail()} unprofiled {plain[0][3]:.1f} s; " + "; ".join(wrong))


def python(*words):
    return [sys.executable, HERE / "python" / words[0], *words[1:]]


def graphs():
    # Ordinary launches, and kernel nodes of graphs, of which one has a host function.
    for window, replayed, declined in (("kernel", 2, 34), ("batch", 35, 1)):
        for options in (["-c", SEVERAL], ["--set", "none", "--passes", "5", "--verify", "all"]):
            name = f"graphs {window} {options[0]}"
            run = Run(name, [*options, "--window", window], [BUILD / "graphs"])
            wrong = right(run, "graphs", options[0] == "-c", skipped_warps=False)
            counted = len(run.dispatches) - run.outcomes["graph_launch"]
            if (counted, run.outcomes["graph_launch"]) != (replayed, declined):
                wrong.append(f"{replayed} were to be profiled and {declined} to decline")
            check(name, run, wrong)


def graph_inference():
    script = HERE.parent.parent / "bench" / "peers" / "graph_inference.py"
    if script.exists():
        program = [sys.executable, script, "--layers", "2", "--tokens", "4"]
        as_unprofiled("graphs graph_inference.py", ["-c", SEVERAL], program)
        as_unprofiled("graphs graph_inference.py x5", ["--set", "none", "--passes", "5"], program)


def python_programs():
    for words in (["torch_allocators.py", "default"], ["torch_allocators.py", "expandable"], ["torch_allocators.py", "async"],
                  ["triton_kernel.py"], ["cupy_kernels.py"], ["jax_step.py"], ["torch_profiler.py"]):
        run_plain(python(*words))
    for allocator in ("default", "expandable", "async"):
        metrics = SEVERAL if allocator == "default" else METRICS
        as_unprofiled(f"python torch_allocators.py {allocator}", ["-c", metrics, "--verify", "all"], python("torch_allocators.py", allocator))
    as_unprofiled("python torch_allocators.py kernel windows", ["--set", "none", "--passes", "3", "--window", "kernel"],
                  python("torch_allocators.py", "default"))
    as_unprofiled("python triton_kernel.py", ["-c", SEVERAL], python("triton_kernel.py"))
    as_unprofiled("python cupy_kernels.py", ["-c", SEVERAL], python("cupy_kernels.py"))
    as_unprofiled("python jax_step.py", ["-c", SEVERAL], python("jax_step.py"))
    as_unprofiled("python torch_profiler.py", ["--set", "none", "--passes", "2"], python("torch_profiler.py"))


def permission():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return say(None, "permission", 0, "needs root and setpriv")
    parameters = pathlib.Path("/proc/driver/nvidia/params")
    free = parameters.exists() and "RmProfilingAdminOnly: 0" in parameters.read_text()
    # An ordinary user may not read root's folders: everything is copied to one of his own.
    place = pathlib.Path("/tmp/kreplay-ordinary-user")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for path in (KREPLAY, pathlib.Path(KREPLAY).resolve().parent / "libkreplay.so", BUILD / "in_place"):
        if pathlib.Path(path).exists():
            shutil.copy(path, place)
    for path in [place, *place.iterdir()]:
        os.chmod(path, 0o777)
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=" + str(place), place / "kreplay",
               "profile", "--device", "cuda", "--overwrite", "-o", place / "run.kreplay", "--set", "memory", "--", place / "in_place"]
    code, out, error, seconds = execute(command, 90)
    report = execute([KREPLAY, "report", place / "run.kreplay", "--format", "json"], 60)[1]
    dispatches = json.loads(report)["dispatches"] if report else []
    names = {counter["name"] for d in dispatches for counter in d["counters"]}
    text = f"exit {code} counters {sorted(names)[:4]} {error.strip()[-400:]}"
    if free:
        return say(code == 0 and len(names) > 1, "permission ordinary users may count here", seconds, text)
    told = "NVreg_RestrictProfilingToAdminUsers" in error or "CAP_SYS_ADMIN" in error
    say(code == 0 and "in_place: right" in out and told and bool(names), "permission times without counters, and the remedy", seconds, text)


def together():
    for options in (["--set", "none", "--passes", "3"], ["-c", METRICS], ["--set", "basic"]):
        programs = ("streams", "threads")

        def one(program):
            # The second one to come waits for its turn, or counts by ranges.
            name = f"together {program} {options[-1]}"
            return name, program, Run(name, options, [BUILD / program], limit=120)

        with concurrent.futures.ThreadPoolExecutor(len(programs)) as pool:
            for name, program, run in list(pool.map(one, programs)):
                values = sum(bool(d["counters"]) for d in run.dispatches)
                wrong = right(run, program, False)
                say(not wrong, name, run.seconds, f"{run.detail()} values={values}; " + "; ".join(wrong))


def company():
    """Long kernels share the GPU with a process that is not profiled: each value is the kernel's own, or there is none."""

    def beside():
        return subprocess.Popen([str(BUILD / "slow"), "1000000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def leave(process):
        process.kill()
        process.wait()

    cases = (("kernel", METRICS, 30, 400), ("kernel", SEVERAL, 8, 60), ("batch", SEVERAL, 30, 200))
    for window, metrics, few, many in cases:
        options = ["--window", window, "-c", metrics]
        name = f"company {window} {'several' if metrics == SEVERAL else 'few'}"
        other = beside()
        time.sleep(2)
        run = Run(f"{name} from the beginning", options, [BUILD / "slow", few], limit=90)
        leave(other)
        check(f"{name} from the beginning", run, right(run, "slow", True))
        came = []
        timer = threading.Timer(4, lambda: came.append(beside()))
        timer.start()
        run = Run(f"{name} from the middle", options, [BUILD / "slow", many], limit=90)
        timer.cancel()
        timer.join()
        for process in came:
            leave(process)
        wrong = right(run, "slow", False)
        wrong += [why for why in uncounted_or_misplaced(run, WARPS) if "without values" not in why]
        lost = [d for d in run.dispatches if not d["counters"]]
        noted = lambda d: any("another process" in note and "was counted" in note for note in d["notes"])
        wrong += [f"{d['id']} has no values: {d['notes']}" for d in lost if not noted(d)][:1]
        all_lost = window == "kernel" and len(lost) == len(run.dispatches)
        told = [warning["text"] for warning in run.run.get("warnings", [])]
        text = f"{run.detail()} without values={len(lost)} came={len(came)}; "
        if not lost and any(warning.startswith("ranges count the context") and "another process" not in warning for warning in told):
            say(None if not wrong else False, f"{name} from the middle", run.seconds, text + "; ".join(wrong or ["the context was counted"]))
            continue
        if not came or not lost:
            wrong.append("nobody came while it was counted")
        elif all_lost:
            wrong.append(f"all of {len(lost)} lost: {told}")
        say(not wrong, f"{name} from the middle", run.seconds, text + "; ".join(wrong))


def devices():
    count = execute(["nvidia-smi", "-L"], 30)[1].count("GPU ")
    if count < 2:
        return say(None, "devices", 0, "one GPU")
    MAY_DECLINE["two_devices"] = {"imported_memory"}
    for window in ("kernel", "batch"):
        for options in (*(["--set", "none", "--passes", passes] for passes in (1, 2, 5, 9)), ["-c", METRICS], ["-c", SEVERAL]):
            name = f"devices {window} {' '.join(map(str, options[1:])) if options[0] == '--set' else options[0]}"
            run = Run(name, [*options, "--window", window], [BUILD / "two_devices"])
            wrong = right(run, "two_devices", options[0] == "-c")
            # What takes a single pass is counted as it runs, whatever it reaches.
            if run.outcomes["replayed"] != 10 and run.outcomes["counted"] < 10 or run.outcomes["imported_memory"] > 1:
                wrong.append("ten launches were to be profiled, and only the one that reaches the other device may decline")
            check(name, run, wrong)


PARTS = {"build": build, "uncounted": uncounted, "counted": counted, "filters": filters, "restore": restore, "frees": frees, "flush": flush,
         "faults": faults, "graphs": graphs, "inference": graph_inference, "python": python_programs, "permission": permission, "together": together,
         "company": company, "devices": devices}


def main():
    chosen = sys.argv[1:] or list(PARTS)
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        sys.exit(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    build()
    for part in chosen:
        begin = time.monotonic()
        try:
            if part != "build":
                PARTS[part]()
        except Exception as error:  # the other parts still run
            say(False, part, time.monotonic() - begin, repr(error))
        print(f"-- {part}: {time.monotonic() - begin:.0f} s", flush=True)
    print(f"{results['PASS']} passed, {results['FAIL']} failed, {results['SKIP']} skipped")
    return 1 if results["FAIL"] else 0


sys.exit(main())
