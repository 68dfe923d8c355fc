"""Programs that spin, die or find their place taken, a command that is killed, requests that cannot be met, users who may not count."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from harness import BUILD, KREPLAY, METRICS, Run, check, execute, right, say


def faults():
    for window in ("kernel", "batch"):
        name = f"faults spinning {window}"
        options = ["--set", "none", "--passes", "3", "--window", window, "--pass-deadline", "500", "--drain-deadline", "1000"]
        run = Run(name, options, [BUILD / "spinning"])
        # In a batch window the program answers the kernel in pass 0, and the replays find the answer.
        good = run.code == 0 and (window == "batch" or any(d["outcome"] == "declined" for d in run.dispatches))
        check(name, run, [] if good else [run.tail()])
        # A kernel that nobody replays waits for the host on its thread's own stream: what is launched beside it declines in time.
        name = f"faults per_thread waiting {window}"
        options = ["--set", "none", "--passes", "3", "--window", window, "--exclude", "wait_for_host", "--pass-deadline", "500",
                   "--drain-deadline", "1000"]
        run = Run(name, options, [BUILD / "per_thread", "waiting"])
        good = run.code == 0 and "per_thread: right" in run.out and run.outcomes["drain_timeout"] > 0
        check(name, run, [] if good else [run.tail()])
        name = f"faults dying {window}"
        run = Run(name, ["--set", "none", "--passes", "3", "--window", window], [BUILD / "dying"])
        kept = run.outcomes["replayed"]
        check(name, run, [] if run.code == 128 + 9 and kept >= 8 else [f"{kept} records kept, 8 or more expected"])
    # The three launches of a constructor decline, whether there was a context before or not; the four behind it do not.
    for words in ([], ["late"]):
        name = f"faults constructing {' '.join(words)}"
        run = Run(name, ["-c", METRICS, "--window", "batch"], [BUILD / "constructing", *words])
        wrong = right(run, "constructing", True)
        if (run.outcomes["loader_held"], len(run.dispatches)) != (3, 7):
            wrong.append("three of seven launches were to decline")
        check(name, run, wrong)
    for window in ("kernel", "batch"):
        killed(window)
    code, out, error, seconds = execute([KREPLAY, "profile", "--device", "cuda", "-c", "sm__inst_executd.sum", "--", "true"], 60)
    say(code == 120 and "sm__inst_executed" in error, "faults unknown metric", seconds, error.strip()[:200])
    run = Run("faults another subscriber", ["--set", "none", "--passes", "2"], [BUILD / "subscriber"])
    told = [warning["text"] for warning in run.run.get("warnings", [])]
    good = run.code == 0 and "subscriber: right" in run.out and not run.dispatches and any("another tool has subscribed" in text for text in told)
    say(good, "faults another subscriber", run.seconds, f"{run.detail()} {told} {run.tail()}")
    run = Run("faults nothing launched", [], ["true"])
    say(run.code == 0, "faults a program that never uses the GPU", run.seconds, run.tail())
    if not list(pathlib.Path("/").glob("usr/local/cuda*")):
        return
    environment = {"KREPLAY_CUPTI": "/nonexistent/libcupti.so"}
    run = Run("faults no CUPTI there", ["--set", "none", "--passes", "2"], [BUILD / "in_place"], environment=environment)
    say(run.code == 0 and "in_place: right" in run.out, "faults a CUPTI that is not there", run.seconds, run.detail() + " " + run.tail())


def killed(window):
    """The command is killed; the program goes on."""
    begin = time.monotonic()
    with open(BUILD / "lasting.out", "w") as out:
        command = [KREPLAY, "profile", "--device", "cuda", "-q", "--overwrite", "-o", BUILD / "killed.kreplay", "--set", "none",
                   "--passes", "3", "--window", window, "--", BUILD / "lasting"]
        child = subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(2.5)
        child.send_signal(signal.SIGKILL)
        child.wait()
    said = ""
    while time.monotonic() - begin < 40 and "lasting" not in said:
        time.sleep(0.2)
        said = (BUILD / "lasting.out").read_text()
    say("lasting: right" in said, f"faults the command is killed {window}", time.monotonic() - begin, said.strip())


def permission():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return say(None, "permission", 0, "needs root and setpriv")
    parameters = pathlib.Path("/proc/driver/nvidia/params")
    free = parameters.exists() and "RmProfilingAdminOnly: 0" in parameters.read_text()
    # An ordinary user may not read root's folders: everything is copied to one of his own.
    place = pathlib.Path("/tmp/kreplay-ordinary-user")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for path in (KREPLAY, pathlib.Path(KREPLAY).resolve().parent / "libkreplay.so", BUILD / "in_place"):
        if pathlib.Path(path).exists():
            shutil.copy(path, place)
    for path in [place, *place.iterdir()]:
        os.chmod(path, 0o777)
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=" + str(place), place / "kreplay",
               "profile", "--device", "cuda", "--overwrite", "-o", place / "run.kreplay", "--set", "memory", "--", place / "in_place"]
    code, out, error, seconds = execute(command, 90)
    report = execute([KREPLAY, "report", place / "run.kreplay", "--format", "json"], 60)[1]
    dispatches = json.loads(report)["dispatches"] if report else []
    names = {counter["name"] for d in dispatches for counter in d["counters"]}
    text = f"exit {code} counters {sorted(names)[:4]} {error.strip()[-400:]}"
    if free:
        return say(code == 0 and len(names) > 1, "permission ordinary users may count here", seconds, text)
    told = "NVreg_RestrictProfilingToAdminUsers" in error or "CAP_SYS_ADMIN" in error
    say(code == 0 and "in_place: right" in out and told and bool(names), "permission times without counters, and the remedy", seconds, text)
