"""CUDA graphs, and programs in Python: under kreplay they print what they print without."""
import concurrent.futures
import sys

from harness import BUILD, HERE, METRICS, SEVERAL, Run, check, execute, right, say, uncounted_or_misplaced

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
