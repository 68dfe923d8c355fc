"""What counting costs by what is counted, and whose work it counts, by CUPTI alone: where the planner's prices come from."""
import re

from measure import BUILD, NINE_PASSES, backwards, result, run

LISTS = [(metric, metric) for metric in (
    "sm__inst_executed.sum", "gpu__time_duration.sum", "gpc__cycles_elapsed.max", "dram__bytes_read.sum", "lts__t_sectors.sum",
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum")]
# As kreplay programs them.
LISTS.append(("nine-pass metrics, backwards", backwards(NINE_PASSES)))
LAUNCHES = (1, 300)
SAMPLED = ("sm__cycles_active.sum,sm__inst_executed.sum", "sm__cycles_active.sum,dram__bytes_read.sum,lts__t_sectors.sum")


def sessions(text):
    """Of each session: what its first Start took, and (start, launch, stop) of the passes of each of its windows."""
    for session in text.split("session of ")[1:]:
        first = re.search(r"first start ([\d.]+) ms", session)
        windows = [
            [tuple(float(part) for part in one.split()) for one in line.split("|")[1:]] for line in re.findall(r"window \d+: (.*)", session)
        ]
        yield float(first[1]) if first else None, windows


def ranges():
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


def sampling():
    text, _, _ = run([BUILD / "sampling_prices", *SAMPLED], 60)
    rounds = re.findall(r"round (\d+) group (\d+): switch ([\d.]+) start ([\d.]+) stop ([\d.]+) ms", text)
    for group, metrics in enumerate(SAMPLED):
        # The first round is left out.
        found = [one[2:] for one in rounds if int(one[0]) > 0 and int(one[1]) == group]
        for at, metric in enumerate(("switch_ms", "start_ms", "stop_ms")):
            result("prices", "cupti_sampling", metrics, metric, "ms", [float(one[at]) for one in found])


def reach():
    """15 s: sessions that count their context and such that count the device, alone and beside a busy process."""
    for metrics in ("sm__inst_executed.sum,sm__warps_launched.sum", "lts__t_sectors.sum"):
        text, _, _ = run([BUILD / "reach", metrics], 60)
        expected = None
        for who in ("alone", "beside"):
            for counted in ("context", "device"):
                case = f"{metrics}, {who}, first start with {'a' if counted == 'context' else 'no'} current context"
                prefix = f"{who}, {counted}:"
                times = re.search(rf"^{prefix} start ([\d.]+) launch ([\d.]+) stop ([\d.]+) ms", text, re.M)
                for at, metric in enumerate(("start_ms", "ms_per_launch", "stop_ms")):
                    result("reach", "cupti", case, metric, "ms", [float(times[at + 1])] if times else [])
                found = [line.split() for line in re.findall(rf"^{prefix} ([\d.e+ ]+)$", text, re.M)]
                expected = expected or (found[0] if found else None)
                if metrics.startswith("sm__"):
                    result("reach", "cupti", case, "values_equal", "ratio", [sum(values == expected for values in found) / len(found)] if found else [])


def prices():
    """25 s at most: 8 × 1.5 processes and sessions, 10 windows of nine passes that read the multiprocessors, 1 sampling."""
    ranges()
    sampling()
