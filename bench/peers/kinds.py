"""Values kernel by kernel, on ten kinds of kernels in turn, beside ncu's and CUPTI's."""
import re
import statistics

from measure import BUILD, dispatches, note, outcomes, result, run
from values import NAMES, ours, theirs

# The same but warps launched, which only ranges count, as far as one group of sampling holds them: each is counted in line, without a
# replay.
SAMPLED = (
    "sm__inst_executed.sum,lts__t_sectors.sum,lts__t_bytes.sum,lts__t_requests.sum,dram__bytes_read.sum,dram__bytes_write.sum",
    "smsp__inst_executed.sum,smsp__inst_issued.sum",
    "l1tex__t_bytes.sum,l1tex__t_sectors.sum,sm__cycles_active.sum",
    "sm__warps_active.sum",
)
# ten_kinds launches them in turn.
KINDS = 10
# What a deterministic kernel makes the same each time, whoever counts.
EXACT = ("sm__inst_executed.sum", "smsp__inst_executed.sum", "l1tex__t_bytes.sum", "l1tex__t_sectors.sum", "sm__warps_launched.sum")
# What ranges may hold more of than their kernel moves: counted by ranges with and without a launch, too.
TRAFFIC = ("lts__t_sectors.sum", "dram__bytes_read.sum", "dram__bytes_write.sum")


def kinds():
    """75 s: 33 and 5 ncu, 30 kreplay, 6 CUPTI; 1000 kernels of ten kinds; how many have just ncu's value, and how far the others are off."""
    program = lambda count: [BUILD / "ten_kinds", count]
    reference = theirs(NAMES, program(100), ["-k", "regex:kind"], 120)
    case = "1000 kernels of ten kinds"
    compare("kreplay", case, reference, ours(["-c", NAMES, "--kernel", r"\bkind_"], program(100), 150))
    outcomes("kinds", "kreplay", case, dispatches())
    sampled = {}
    for names in SAMPLED:
        sampled.update(only_sampled("kreplay sampled", f"{case}, {names.split(',')[0]} and others", names, program(100)))
    compare("kreplay sampled", case, reference, sampled)
    replayed = only_sampled("kreplay sampled in replays", f"{case}, all of them", ",".join(SAMPLED), program(100))
    compare("kreplay sampled in replays", case, reference, replayed)
    # The first hundred: by ranges alone, and ncu against itself, for the peers' own spread.
    case = "the first 100 of them"
    ranges = ours(["--window", "kernel", "-c", NAMES, "--kernel", r"\bkind_"], program(10), 150)
    compare("kreplay ranges", case, reference, ranges)
    compare("ncu again", case, reference, theirs(NAMES, program(10), ["-k", "regex:kind"], 60))
    for name in TRAFFIC:
        each = {"ncu": reference, "kreplay ranges": ranges, "kreplay sampled": sampled, "kreplay sampled in replays": replayed}
        by_kind(name, {"cupti, with a launch less without": increments(name)} | {subject: split(found.get(name, [])) for subject, found in each.items()})


def only_sampled(subject, case, names, program):
    """Values of each counter that was sampled, by launch: what was counted another way is nothing to say about sampling."""
    values = ours(["-c", names, "--kernel", r"\bkind_"], program, 60)
    found = dispatches()
    outcomes("kinds", subject, case, found)
    other = {counter["name"] for dispatch in found for counter in dispatch["counters"] if counter["way"] != "sampling"}
    return {name: each for name, each in values.items() if name not in other}


def compare(subject, case, reference, found):
    """How many have just the reference's value, or how far off they are and how many lie among the reference's of the same kind."""
    for name in NAMES.split(","):
        pairs = [pair for pair in zip(reference.get(name, []), found.get(name, [])) if None not in pair]
        if not pairs:
            continue
        result("kinds", subject, case, f"{name} compared", "dispatches", [len(pairs)])
        if name in EXACT:
            result("kinds", subject, case, f"{name} equal", "ratio", [sum(a == b for a, b in pairs) / len(pairs)])
        else:
            off = sorted(abs(b - a) / max(abs(a), 1.0) for a, b in pairs)
            result("kinds", subject, case, f"{name} off", "ratio", [off[len(off) // 2]])
            within(subject, case, name, reference[name], found[name])


def within(subject, case, name, reference, found):
    """How many values lie among those that ncu has of the same kind; and of each kind, where ncu's and these lie, for the raw log."""
    inside = there = 0
    for kind, (known, values) in enumerate(zip(split(reference), split(found))):
        if not known or not values:
            continue
        inside += sum(min(known) <= value <= max(known) for value in values)
        there += len(values)
        note(f"{subject}, {case}: {name} of kind {kind}: {spread(values)}, ncu {spread(known)}")
    result("kinds", subject, case, f"{name} within", "ratio", [inside / there] if there else [])


def increments(metric):
    """What a launch adds to a range of CUPTI's, for each kind in turn: each of 20 ranges with it, less the median of 20 without."""
    text, _, _ = run([BUILD / "range_traffic", metric, "kinds"], 60)
    found = {}
    for kind, launches, values in re.findall(r"^kind (\d+) launches (\d+):((?: \d+)+)$", text, re.M):
        found.setdefault(int(kind), {})[int(launches)] = [float(value) for value in values.split()]
    added = []
    for kind in range(KINDS):
        ranges = found.get(kind, {})
        added.append([value - statistics.median(ranges[0]) for value in ranges[1]] if set(ranges) == {0, 1} else [])
    return added


def by_kind(name, subjects):
    """What each counts for a launch of each kind."""
    for kind in range(KINDS):
        for subject, values in subjects.items():
            if values[kind]:
                result("kinds", subject, f"kind {kind} in turn", name, "B" if "bytes" in name else "sectors", values[kind])


def split(values):
    """The values that are there, kind by kind."""
    return [[value for value in values[kind::KINDS] if value is not None] for kind in range(KINDS)]


def spread(values):
    """The least, the middle and the most."""
    return f"{min(values):.0f} … {statistics.median(values):.0f} … {max(values):.0f}"
