"""Values beside ncu's: on the in-place kernel, and kernel by kernel on ten kinds of kernels."""
import csv
import re
import statistics

from measure import BUILD, NCU, dispatches, in_place, kreplay, note, outcomes, result, run

NAMES = (
    "sm__inst_executed.sum,smsp__inst_executed.sum,l1tex__t_bytes.sum,l1tex__t_sectors.sum,lts__t_sectors.sum,"
    "lts__t_bytes.sum,dram__bytes_read.sum,dram__bytes_write.sum,sm__warps_launched.sum,sm__cycles_active.sum"
)
# The same but warps, which only ranges count, as far as one group of sampling holds them: each is counted in line, without a
# replay.
SAMPLED = (
    "sm__inst_executed.sum,lts__t_sectors.sum,lts__t_bytes.sum,dram__bytes_read.sum,dram__bytes_write.sum",
    "smsp__inst_executed.sum",
    "l1tex__t_bytes.sum,l1tex__t_sectors.sum,sm__cycles_active.sum",
)
# ten_kinds launches them in turn.
KINDS = 10
# What a deterministic kernel makes the same each time, whoever counts.
EXACT = ("sm__inst_executed.sum", "smsp__inst_executed.sum", "l1tex__t_bytes.sum", "l1tex__t_sectors.sum", "sm__warps_launched.sum")


def ours(options, program, limit=60):
    """Values of each counter, by launch; None for one that has none."""
    kreplay(options, program, limit)
    found, launches = {}, 0
    for dispatch in dispatches():
        # A metric that is counted in several passes counts once.
        values = {counter["name"]: counter["value"] for counter in dispatch["counters"]}
        for name, value in values.items():
            # Launches without values keep their places.
            found.setdefault(name, []).extend([None] * (launches - len(found.get(name, []))))
            found[name].append(value)
        launches += 1
    return {name: values + [None] * (launches - len(values)) for name, values in found.items()}


def theirs(metrics, program, options=(), limit=90):
    """The same by ncu."""
    text, _, _ = run([*NCU, *options, "--csv", "--page", "raw", "--print-units", "base", "--metrics", metrics, *program], limit)
    table = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    found = {}
    for row in table[2:]:
        for name, value in zip(table[0], row):
            if name in metrics:
                found.setdefault(name, []).append(float(value.replace(",", "") or "nan"))
    return found


def values():
    """9 s: one kernel, 8 dispatches, ranges in kernel windows and the default."""
    program = in_place(64, 1024)(8)
    case = "64 MiB resident, 1 MiB written in place, 8 dispatches"
    for subject, options in (("kreplay --window kernel", ["--window", "kernel"]), ("kreplay", [])):
        for name, found in ours([*options, "-c", NAMES, "--kernel", r"\bstep\b"], program).items():
            result("values", subject, case, name, "count", found)
    for name, found in theirs(NAMES, program, ["-k", "regex:step"]).items():
        result("values", "ncu", case, name, "count", found)


def kinds():
    """60 s: 33 and 5 ncu, 20 kreplay; 1000 kernels of ten kinds; how many have just ncu's value, and how far the others are off."""
    program = lambda count: [BUILD / "ten_kinds", count]
    reference = theirs(NAMES, program(100), ["-k", "regex:kind"], 120)
    case = "1000 kernels of ten kinds"
    compare("kinds", "kreplay", case, reference, ours(["-c", NAMES, "--kernel", r"\bkind_"], program(100), 150))
    outcomes("kinds", "kreplay", case, dispatches())
    sampled = {}
    for names in SAMPLED:
        values = ours(["-c", names, "--kernel", r"\bkind_"], program(100), 60)
        found = dispatches()
        outcomes("kinds", "kreplay sampled", f"{case}, {names.split(',')[0]} and others", found)
        # What was counted another way is nothing to say about sampling.
        other = {counter["name"] for dispatch in found for counter in dispatch["counters"] if counter["way"] != "sampling"}
        sampled.update({name: each for name, each in values.items() if name not in other})
    compare("kinds", "kreplay sampled", case, reference, sampled)
    # The first hundred: by ranges alone, and ncu against itself, for the peers' own spread.
    case = "the first 100 of them"
    ranges = ours(["--window", "kernel", "-c", NAMES, "--kernel", r"\bkind_"], program(10), 150)
    compare("kinds", "kreplay ranges", case, reference, ranges)
    compare("kinds", "ncu again", case, reference, theirs(NAMES, program(10), ["-k", "regex:kind"], 60))
    sectors = "lts__t_sectors.sum"
    added = increments(sectors)
    for subject, values in (("kreplay sampled", sampled), ("kreplay ranges", ranges), ("ncu", reference)):
        beyond("kinds", subject, "ten kinds in turn", sectors, added, values.get(sectors, []))


def range_traffic():
    """10 s: L2 sectors of a kernel that writes the same words however long it lasts, and of ranges with none to eight launches of it."""
    metric, program = "lts__t_sectors.sum", [BUILD / "range_traffic", "run"]
    text, _, _ = run([BUILD / "range_traffic", metric], 60)
    lines = re.findall(r"^turns (\d+) launches (\d+):((?: \d+)+)$", text, re.M)
    for turns, launches, found in lines:
        case = f"{launches} launch{'' if launches == '1' else 'es'} of {turns} turns a range"
        result("range_traffic", "cupti", case, metric, "sectors", [float(value) for value in found.split()])
    found = {
        "ncu": theirs(metric, program, ["-k", "regex:store"]),
        "kreplay sampled": ours(["-c", metric, "--kernel", r"\bstore\b"], program),
        "kreplay ranges": ours(["--window", "kernel", "-c", f"{metric},sm__throughput.avg.pct_of_peak_sustained_elapsed", "--kernel", r"\bstore\b"], program),
    }
    turns = list(dict.fromkeys(turns for turns, _, _ in lines))
    for subject, values in found.items():
        # The first launch is the program's way to load the kernel.
        launches = values.get(metric, [])[1:]
        each = len(launches) // max(len(turns), 1)
        for at, length in enumerate(turns):
            result("range_traffic", subject, f"1 launch of {length} turns", metric, "sectors", launches[at * each : (at + 1) * each])


def compare(bench, subject, case, reference, found):
    for name in NAMES.split(","):
        pairs = [pair for pair in zip(reference.get(name, []), found.get(name, [])) if None not in pair]
        if not pairs:
            continue
        if name in EXACT:
            result(bench, subject, case, f"{name} equal", "ratio", [sum(a == b for a, b in pairs) / len(pairs)])
        else:
            off = sorted(abs(b - a) / max(abs(a), 1.0) for a, b in pairs)
            result(bench, subject, case, f"{name} off", "ratio", [off[len(off) // 2]])
            within(bench, subject, case, name, reference[name], found[name])


def increments(metric):
    """What a launch more adds to a range of CUPTI's, for each kind in turn: of each of 20 ranges with the kind before it and it, less
    the median of ranges with the kind before it alone."""
    text, _, _ = run([BUILD / "range_traffic", metric, "kinds"], 60)
    found = {}
    for kind, launches, values in re.findall(r"^kind (\d+) launches (\d+):((?: \d+)+)$", text, re.M):
        found.setdefault(int(kind), {})[int(launches)] = [float(value) for value in values.split()]
    whole = {kind: ranges for kind, ranges in found.items() if set(ranges) == {1, 2}}
    return {(kind + 1) % KINDS: [value - middle(ranges[1]) for value in ranges[2]] for kind, ranges in whole.items()}


def beyond(bench, subject, case, name, added, found):
    """How much more L2 sectors than a launch adds to a range each kind has at the median, and as a share."""
    added = {kind: values for kind, values in added.items() if any(value is not None for value in found[kind::KINDS])}
    for kind in sorted(added):
        note(f"{subject}, {case}: {name} of kind {kind}: {spread(sorted(value for value in found[kind::KINDS] if value is not None))}, a launch adds {spread(sorted(added[kind]))}")
    pairs = [(middle(added[kind]), middle(found[kind::KINDS])) for kind in added]
    result(bench, subject, case, f"{name} beyond what a launch adds to a range", "sectors", [value - one for one, value in pairs])
    result(bench, subject, case, f"{name} off what a launch adds to a range", "ratio", [abs(value - one) / one for one, value in pairs])


def spread(values):
    """The least, the middle and the most of sorted values."""
    return f"{values[0]:.0f} … {values[len(values) // 2]:.0f} … {values[-1]:.0f}"


def middle(values):
    """The median of those that are there."""
    return statistics.median(value for value in values if value is not None)


def within(bench, subject, case, name, reference, found):
    """How many values lie among those that ncu has of the same kind; and of each kind, where ncu's and these lie, for the raw log."""
    inside = 0
    for kind in range(KINDS):
        known, values = sorted(reference[kind::KINDS]), sorted(value for value in found[kind::KINDS] if value is not None)
        if not known or not values:
            continue
        inside += sum(known[0] <= value <= known[-1] for value in values)
        note(f"{subject}, {case}: {name} of kind {kind}: {spread(values)}, ncu {spread(known)}")
    there = sum(value is not None for value in found)
    result(bench, subject, case, f"{name} within", "ratio", [inside / there] if there else [])
