"""What every part of the tests uses: the programs and how they are built, runs under kreplay, and what must be true of one."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
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
