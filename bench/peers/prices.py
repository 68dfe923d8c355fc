"""What a pass costs by what it counts, by CUPTI alone: where the planner's prices come from."""
import re

from measure import BUILD, NINE_PASSES, backwards, result, run

LISTS = [(metric, metric) for metric in (
    "sm__inst_executed.sum", "gpu__time_duration.sum", "gpc__cycles_elapsed.max", "dram__bytes_read.sum", "lts__t_sectors.sum",
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum")]
# As kreplay programs them.
LISTS.append(("nine-pass metrics, backwards", backwards(NINE_PASSES)))
LAUNCHES = (1, 300)


def sessions(text):
    """Of each session: what its first Start took, and (start, launch, stop) of the passes of each of its windows."""
    for session in text.split("session of ")[1:]:
        first = re.search(r"first start ([\d.]+) ms", session)
        windows = [
            [tuple(float(part) for part in one.split()) for one in line.split("|")[1:]] for line in re.findall(r"window \d+: (.*)", session)
        ]
        yield float(first[1]) if first else None, windows


def prices():
    """25 s at most: 7 × 1.5 processes and sessions, 10 the windows of nine passes, which read the multiprocessors in each launch."""
    for name, metrics in LISTS:
        # The first session of a process is left out: it loads what the others find.
        text, code, _ = run([BUILD / "prices", metrics, LAUNCHES[0], *LAUNCHES], 60)
        found = list(sessions(text))[1:] if code == 0 else []
        for launches, (first, windows) in zip(LAUNCHES, found):
            case = f"{name}, windows of {launches}"
            result("prices", "cupti", case, "first_start_ms", "ms", [first])
            # The first window has the session's first start.
            passes = [one for window in windows[1:] for one in window]
            for at, metric in enumerate(("start_ms", "ms_per_launch", "stop_ms")):
                result("prices", "cupti", case, metric, "ms", [one[at] for one in passes])
        if len(found) != len(LAUNCHES):
            result("prices", "cupti", name, "start_ms", "ms", [])
