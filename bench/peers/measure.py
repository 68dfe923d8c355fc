"""Running commands with time limits, and writing results: what every part of the peer benchmarks uses."""
import collections
import datetime
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
KREPLAY = os.environ.get("KREPLAY", "kreplay")
BUILD = pathlib.Path(os.environ.get("BUILD", "/tmp/kreplay-peers"))
PROFILE = BUILD / "run.kreplay"
NINE_PASSES = (
    "gpu__time_duration.sum,sm__cycles_active.sum,sm__inst_executed.sum,sm__inst_issued.sum,sm__inst_executed_pipe_alu.sum,"
    "sm__inst_executed_pipe_fma.sum,sm__inst_executed_pipe_fp64.sum,sm__inst_executed_pipe_lsu.sum,"
    "sm__inst_executed_pipe_tensor.sum,sm__inst_executed_pipe_xu.sum,"
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active,sm__throughput.avg.pct_of_peak_sustained_elapsed"
)
MEMORY = "dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors.sum"
NCU = ["ncu", "--cache-control", "none", "--clock-control", "none", "-f"]
# What is kept of a long output in the raw log.
HEAD, TAIL = 2500, 1500

# How paths of this machine stand in the raw log.
SHOWN = ((KREPLAY, "kreplay"), (str(HERE), "bench/peers"), (str(BUILD), "BUILD"), (sys.executable, "python3"), (sys.prefix, "PYTHON"))

state = {}


def shown(text):
    for path, word in SHOWN:
        text = text.replace(path, word)
    return text


def begin(out):
    """Opens the files of a run: raw.log, and peers.jsonl with one result a line."""
    out.mkdir(parents=True, exist_ok=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    state["raw"] = open(out / "raw.log", "a", buffering=1)
    state["results"] = open(out / "peers.jsonl", "a", buffering=1)
    query = lambda field: run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"])[0].strip().splitlines()[0]
    state["machine"] = {}
    state["machine"] = {
        "commit": os.environ.get("COMMIT", "unknown"),
        "machine": query("name"),
        "driver": query("driver_version"),
        "date": datetime.date.today().isoformat(),
    }


def note(text):
    """Writes a line to the raw log."""
    state["raw"].write(shown(text) + "\n")


def run(command, limit=120):
    """Runs a command; gives what it printed (both streams), its exit code (124 at the limit) and its seconds."""
    command = [str(word) for word in command]
    start = time.monotonic()
    try:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
        )
    except OSError as error:
        state["raw"].write(shown(f"$ {' '.join(command)}\n[{error}]\n\n"))
        return str(error), 127, 0.0
    try:
        text, code = child.communicate(timeout=limit)[0], child.returncode
    except subprocess.TimeoutExpired:
        # With everything that it started.
        os.killpg(child.pid, signal.SIGKILL)
        text, code = child.communicate()[0] + f"\nTIME LIMIT {limit} s", 124
    seconds = time.monotonic() - start
    begun = re.search(r"^begun ([\d.]+)$", text, re.MULTILINE)
    state["since_begun"] = time.time() - float(begun[1]) if begun else None
    kept = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n[… {len(text) - HEAD - TAIL} characters left out …]\n{text[-TAIL:]}"
    state["raw"].write(shown(f"$ {' '.join(command)}\n{kept}\n[exit {code}, {seconds:.3f} s]\n\n"))
    return text, code, seconds


def since_begun():
    """The last command's seconds from what its program said had begun to its end; None where it said nothing."""
    return state["since_begun"]


def result(bench, subject, case, metric, unit, values):
    """Writes a result; nothing is written where nothing was measured. Gives the median."""
    values = [value for value in values if value is not None]
    if not values:
        print(f"{bench} {subject} {case} {metric}: nothing measured", flush=True)
        return None
    median = statistics.median(values)
    line = dict(bench=bench, subject=subject, case=case, metric=metric, unit=unit, median=round(median, 6),
                min=round(min(values), 6), max=round(max(values), 6), n=len(values), **state["machine"])
    state["results"].write(json.dumps(line) + "\n")
    print(f"{bench:18} {subject:26} {case:60} {metric:22} {median:12.4f} {unit}", flush=True)
    return median


def loop(text):
    """The loop's milliseconds that a workload printed, if its own check passed."""
    found = re.search(r"loop ([\d.]+) ms", text)
    wrong = re.search(r"wrong (\d+)", text)
    return float(found[1]) if found and not (wrong and int(wrong[1])) else None


def half(text):
    """The same of the second half of its launches: what happens once in a program is not among them."""
    found = re.search(r"half ([\d.]+) ms", text)
    return float(found[1]) if found and loop(text) is not None else None


def kreplay(options, program, limit=120):
    """Runs a program under kreplay."""
    return run([KREPLAY, "profile", "--device", "cuda", "-q", "--overwrite", "-o", PROFILE, *options, "--", *program], limit)


def report():
    """The last profile, as the report's JSON; empty where there is none."""
    target = BUILD / "report.json"
    target.unlink(missing_ok=True)
    _, code, _ = run([KREPLAY, "report", PROFILE, "--format", "json", "-o", target])
    try:
        return json.loads(target.read_text()) if code == 0 else {}
    except (OSError, ValueError):
        return {}


def dispatches():
    return report().get("dispatches", [])


def replayed(found):
    """Dispatches with all their passes; those that a plan of one pass counted as they ran among them."""
    return [dispatch for dispatch in found if dispatch["outcome"] in ("replayed", "counted")]


def kernel_passes(found):
    """Passes of the dispatches that were profiled, all together."""
    return sum(dispatch["passes"] for dispatch in replayed(found))


def outcomes(bench, subject, case, found):
    """How many dispatches were profiled and how many were not, have values, diverged; why not is in the raw log."""
    reasons = collections.Counter(f"{dispatch['reason']}: {dispatch['detail']}" for dispatch in found if dispatch["outcome"] == "declined")
    for reason, count in reasons.most_common(8):
        note(f"{subject}, {case}: {count} declined, {reason}")
    for metric, count in (
        ("dispatches_profiled", len(replayed(found))),
        ("dispatches_declined", sum(dispatch["outcome"] == "declined" for dispatch in found)),
        ("dispatches_with_values", sum(bool(dispatch["counters"]) for dispatch in found)),
        ("divergent", sum(bool(dispatch["divergent"]) for dispatch in found)),
    ):
        result(bench, subject, case, metric, "dispatches", [count])


def slope(measure, few, many):
    """Milliseconds a dispatch, the first ones' preparations left out."""
    first, last = measure(few), measure(many)
    return None if first is None or last is None else (last - first) / (many - few)


def in_loop(options, program):
    """Milliseconds of the program's loop: all of what is counted as the program launches it, and of kernel windows."""
    return lambda count: loop(kreplay(options, program(count))[0])


def whole(options, program, limit=150):
    """Milliseconds of the whole command: a batch window may close at the program's end, after its loop."""

    def measure(count):
        text, code, seconds = kreplay(options, program(count), limit)
        return seconds * 1e3 if code == 0 and loop(text) is not None else None

    return measure


def backwards(metrics):
    """The nine-pass metrics as kreplay programs them: in the order that was asked CUPTI needs a pass more."""
    return ",".join(reversed(metrics.split(",")))


def in_place(resident, written):
    """The in-place kernel: MiB resident, KiB written; gives the command for a number of dispatches."""
    return lambda count: [BUILD / "in_place", resident, count, written]


def build():
    """Builds the workloads and peers that are missing; gives whether all are there."""
    BUILD.mkdir(parents=True, exist_ok=True)
    there = True
    cu = ["nvcc", "-x", "cu", "-O2", "-arch=native"]
    libraries = ["-lcuda", "-lcupti", "-lnvperf_host", "-lnvperf_target"]
    commands = [
        ["nvcc", "-O2", "-arch=native", "-o", BUILD / "in_place", HERE / "in_place.cu"],
        ["nvcc", "-O2", "-arch=native", "-o", BUILD / "ten_kinds", HERE / "ten_kinds.cu"],
        [*cu, "-o", BUILD / "range_replay", HERE / "range_replay.cpp", *libraries],
        [*cu, "-o", BUILD / "prices", HERE / "prices.cpp", *libraries],
        [*cu, "-o", BUILD / "reach", HERE / "reach.cpp", *libraries],
        [*cu, "-o", BUILD / "range_traffic", HERE / "range_traffic.cpp", *libraries],
        [*cu, "-o", BUILD / "sampling_prices", HERE / "sampling_prices.cpp", *libraries],
        [*cu, "-shared", "-Xcompiler", "-fPIC", "-o", BUILD / "range_window.so", HERE / "range_window.cpp", *libraries],
        [*cu, "-shared", "-Xcompiler", "-fPIC", "-o", BUILD / "tracing.so", HERE / "tracing.cpp", "-lcuda", "-lcupti"],
        ["nvcc", "-O2", "-arch=native", "-o", BUILD / "memory_peers", HERE / "memory_peers.cu", "-lcuda", "-lcheckpoint"],
    ]
    folders = ["/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"]
    wheels = pathlib.Path("/").glob("opt/*/.venv/lib/python3*/site-packages/nvidia/cu13/lib/libcheckpoint.so")
    folders += [str(path.parent) for path in wheels]
    paths = [option for folder in folders for option in ("-L" + folder, "-Xlinker", "-rpath=" + folder)]
    for command in commands:
        if command[command.index("-o") + 1].exists():
            continue
        text, code, _ = run(command + paths + ["-I/usr/local/cuda/extras/CUPTI/include"], 240)
        if code:
            there = False
            print("not built:", command[command.index("-o") + 1], text[-600:], flush=True)
    return there


if __name__ == "__main__":  # builds only, which needs no GPU
    state["raw"] = sys.stdout
    sys.exit(not build())
