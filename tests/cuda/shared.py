"""Several on one GPU, and one on several GPUs."""
import concurrent.futures
import subprocess
import threading
import time

from harness import BUILD, MAY_DECLINE, METRICS, SEVERAL, WARPS, Run, check, execute, right, say, uncounted_or_misplaced


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
