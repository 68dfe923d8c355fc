"""Whole programs: PyTorch training, and inference by a CUDA graph."""
import re
import sys

from measure import (BUILD, HERE, MEMORY, NCU, NINE_PASSES, backwards, dispatches, kernel_passes, kreplay, outcomes, replayed, report, result,
                     run, since_begun)


def losses(text):
    found = re.search(r"losses (.*)", text)
    return found[1].strip() if found else None


def same_losses(text, plain):
    return float(losses(text) is not None and losses(text) == losses(plain))


def training(steps):
    return [sys.executable, HERE / "train_step.py", "1024", steps]


def training_step():
    """136 s: 5 × 8 unprofiled, 4 × 11 and 13 kreplay, 39 ncu."""
    program = training(1)
    case = "train_step.py 1024 1, nine-pass metrics, whole command"
    # Importing reads its files from the disk once.
    run(program)
    plain, ours = [], {"kreplay": [], "kreplay --window kernel": []}
    for _ in range(4):
        plain.append(run(program))
        ours["kreplay"].append(kreplay(["-c", NINE_PASSES], program, 100))
        found = dispatches()
    ours["kreplay --window kernel"].append(kreplay(["--window", "kernel", "-c", NINE_PASSES], program, 100))
    unprofiled = result("training_step", "unprofiled", case, "seconds", "s", [seconds for _, code, seconds in plain if code == 0])
    for subject, runs in ours.items():
        median = result("training_step", subject, case, "seconds", "s", [seconds for _, code, seconds in runs if code == 0])
        if median and unprofiled:
            result("training_step", subject, case, "times_unprofiled", "ratio", [median / unprofiled])
        result("training_step", subject, case, "losses_identical", "bool", [same_losses(text, plain[0][0]) for text, _, _ in runs])
    outcomes("training_step", "kreplay", case, found)
    outcomes("training_step", "kreplay --window kernel", case, dispatches())
    text, code, seconds = run([*NCU, "--metrics", NINE_PASSES, "-o", BUILD / "ncu", *program], 110)
    result("training_step", "ncu", case, "seconds", "s", [seconds] if code == 0 else [])


def ncu_kernel_pass(metrics, program):
    """Milliseconds a kernel-pass of ncu on a part of a program, by the program's own clock: importing moves by seconds, and one pass of
    thirty kernels takes less than one."""
    seconds, passes = [], None
    for count in (10, 40):
        command = [*NCU, "--launch-skip", 200, "--launch-count", count, "--metrics", metrics, *program]
        text, code, _ = run(command, 110)
        found = re.search(r"(\d+) pass(es)?\b", text)
        passes = int(found[1]) if found else None
        steps = re.search(r"\bseconds ([\d.]+) losses\b", text)
        seconds.append(float(steps[1]) if steps and code == 0 else None)
    if None in seconds or not passes:
        return None, passes
    return (seconds[1] - seconds[0]) * 1e3 / 30 / passes, passes


def training_script():
    """260 s: 4 × 8 unprofiled; 32 nine-pass, 2 × 10 L2 and DRAM, 2 × 10 basic, 12 `--verify all`; CUPTI 12; ncu 3 × (18 + 25)."""
    program = training(20)

    def timed(command):
        """Text, exit code, seconds of the command, and those since the first step: importing takes ten, and moves by seconds."""
        return (*command(), since_begun())

    # Importing reads its files from the disk once.
    run(program)
    plain = [timed(lambda: run(program))]
    runs = []
    for options, name, times in (
        (["--set", "basic"], "basic", 2), (["-c", MEMORY], "L2 and DRAM counters", 2), (["-c", NINE_PASSES], "nine-pass metrics", 1),
        (["--set", "basic", "--verify", "all"], "basic, --verify all", 1)
    ):
        ours = []
        for _ in range(times):
            ours.append(timed(lambda: kreplay(options, program, 150)))
            # In turn with the others: the program's own time moves from minute to minute.
            if len(plain) < 3:
                plain.append(timed(lambda: run(program)))
        runs.append((f"train_step.py 1024 20, {name}", ours, report()))
    case = "train_step.py 1024 20"
    unprofiled = result("training_script", "unprofiled", case, "seconds", "s", [took for _, code, took, _ in plain if code == 0])
    steps = result("training_script", "unprofiled", case, "seconds_from_first_step", "s", [since for _, code, _, since in plain if code == 0])
    for case, ours, made in runs:
        found, windows = made.get("dispatches", []), made.get("run", {}).get("windows", [])
        each = [took for _, code, took, _ in ours if code == 0]
        seconds = result("training_script", "kreplay", case, "seconds", "s", each)
        if seconds is None or unprofiled is None or steps is None:
            continue
        result("training_script", "kreplay", case, "times_unprofiled", "ratio", [took / unprofiled for took in each])
        result("training_script", "kreplay", case, "losses_identical", "bool", [same_losses(ours[0], plain[0][0]) for ours in ours])
        outcomes("training_script", "kreplay", case, found)
        passes = kernel_passes(found)
        if passes:
            result("training_script", "kreplay", case, "passes", "passes", [max(d["passes"] for d in replayed(found))])
            added = [(since - steps) * 1e3 / passes for _, code, _, since in ours if code == 0]
            result("training_script", "kreplay", case, "ms_per_kernel_pass", "ms", added)
            # A pass that only takes times left out: it is the program's own run.
            counted = sum(len({c["pass"] for c in d["counters"] if c["way"] != "timing"}) for d in replayed(found))
            if counted:
                result("training_script", "kreplay", case, "ms_per_counted_pass", "ms", [each * passes / counted for each in added])
            # The whole command's difference, start and end of the profile included, and the noise of importing.
            added = [(took - unprofiled) * 1e3 / passes for took in each]
            result("training_script", "kreplay", case, "command_ms_per_kernel_pass", "ms", added)
        if windows:
            result("training_script", "kreplay", case, "kernels_per_window", "dispatches", [len(found) / len(windows)])
    # CUPTI alone around two steps, in the order that kreplay programs: what the same kernels cost where nothing is replayed.
    bare = [sys.executable, HERE / "train_bare.py", BUILD / "range_window.so", backwards(NINE_PASSES), "1024", "2"]
    found = re.search(r"passes (\d+) launches (\d+) counted ([\d.]+) ms", run(bare, 60)[0])
    each = [float(found[3]) / int(found[1]) / int(found[2])] if found and int(found[2]) else []
    result("training_script", "cupti_bare_window", "train_step.py 1024 2, nine-pass metrics", "ms_per_kernel_pass", "ms", each)
    # Of three steps: ncu counts kernels of the second one, and the others only take their time. Each list as kreplay's report has it.
    for case, _, made in runs[:3]:
        names = list(dict.fromkeys(c["name"] for d in made.get("dispatches", []) for c in d["counters"] if c["way"] != "timing"))
        if names:
            cost, passes = ncu_kernel_pass(",".join(names), training(3))
            result("training_script", "ncu", case, "ms_per_kernel_pass", "ms", [cost])
            result("training_script", "ncu", case, "passes", "passes", [passes])


def graph_inference():
    """41 s: 5 unprofiled, 18, 8 and 10 kreplay."""
    program = [sys.executable, HERE / "graph_inference.py", "--tokens", "4"]
    plain = [run(program)]
    shown = lambda text: [line for line in text.splitlines() if line.split(" ")[0] in ("tokens", "logits", "eager")]
    case = "12 layers of width 768, 4 tokens by CUDA graph"
    result("graph_inference", "unprofiled", case, "seconds", "s", [seconds for _, code, seconds in plain if code == 0])
    for options, name in (
        (["-c", NINE_PASSES], "nine-pass metrics"), (["-c", MEMORY], "L2 and DRAM counters"),
        (["--set", "basic", "--verify", "all"], "basic, --verify all"),
    ):
        text, code, seconds = kreplay(options, program, 120)
        found = dispatches()
        within = f"{case}, {name}"
        result("graph_inference", "kreplay", within, "seconds", "s", [seconds] if code == 0 else [])
        result("graph_inference", "kreplay", within, "outputs_identical", "bool", [float(bool(shown(text)) and shown(text) == shown(plain[0][0]))])
        outcomes("graph_inference", "kreplay", within, found)
