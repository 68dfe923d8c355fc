"""Values beside ncu's: on the in-place kernel, and what ranges hold that is not their kernel's."""
import csv
import re

from measure import BUILD, NCU, dispatches, in_place, kreplay, result, run

NAMES = (
    "sm__inst_executed.sum,smsp__inst_executed.sum,smsp__inst_issued.sum,l1tex__t_bytes.sum,l1tex__t_sectors.sum,lts__t_sectors.sum,"
    "lts__t_bytes.sum,lts__t_requests.sum,dram__bytes_read.sum,dram__bytes_write.sum,sm__warps_launched.sum,sm__warps_active.sum,"
    "sm__cycles_active.sum"
)


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
            if name in metrics.split(","):
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
