"""The programs of this folder in both kinds of windows: nothing counted, counted, filtered, with the restore left out, with frees."""
import collections
import concurrent.futures

from harness import (BUILD, JOBS, METRICS, PROGRAMS, SAMPLED, SEVERAL, Run, check, right, say)


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


def sampled():
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
    for name, options, may_lack in (("in line", ["-c", SAMPLED], 4), ("in replays", ["-c", f"gpu_time,{SAMPLED}"], 0)):
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
