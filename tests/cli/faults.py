# SPDX-License-Identifier: Apache-2.0
"""A load that something happens to: started, watched trial by trial, looked at afterwards."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time
import uuid

from conftest import PROGRAM, environment, run, strict_json

NULL = "groups=X25519 backend=null verify=off"
MARK = "PQC_BENCH_FAULT_TEST"


def until(condition, what, seconds=120):
    """The first true value of condition()."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {seconds} s")


def threads(pid):
    """Names of a process's threads; a load's are "client", a server's "server"."""
    names = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):
            names.append((task / "comm").read_text().strip())
    return names


def marked(mark):
    """Living processes that inherited the mark."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state not in "ZX" and mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


class Load:
    """`pqc-bench load` with results in DIR/r and temporary files in DIR/tmp; `around` is what
    it is called by, for a namespace or a limit."""

    def __init__(self, directory, *words, arms=("a",), around=(), variables=None, out=True):
        self.directory, self.result_directory = directory, directory / "r"
        self.mark = uuid.uuid4().hex
        self.temporary = directory / "tmp"
        self.temporary.mkdir()
        command = [*around, PROGRAM, "load", "--rate", "200", "--duration", "300ms", "--warmup",
                   "0", "--grace", "2s", "--timeout", "1s", "--no-calibrate", "--trials", "10"]
        for name in arms:
            command += ["--arm", f"{name}: {NULL}"]
        if out:
            command += ["-o", str(self.result_directory)]
        self.process = subprocess.Popen(
            [*command, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8",
            env=environment(**{MARK: self.mark, "TMPDIR": str(self.temporary)},
                            **(variables or {})))
        self.stdout = self.stderr = None

    def kept(self):
        """What lies in result.json now; None before the first trial."""
        with contextlib.suppress(OSError):
            return strict_json((self.result_directory / "result.json").read_text())
        return None

    def trials(self):
        result = self.kept()
        return min(len(arm["trials"]) for arm in result["arms"]) if result else 0

    def wait_for_trials(self, count):
        until(lambda: self.trials() >= count or self.process.poll() is not None,
              f"{count} trials")
        assert self.process.poll() is None, self.process.communicate()
        return self.trials()

    def find(self, *words):
        """The descendant whose command line has these words."""
        def look():
            for pid in marked(self.mark):
                with contextlib.suppress(OSError):
                    line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                    if all(word.encode() in line for word in words):
                        return pid
            return None
        return until(look, " ".join(words))

    def server(self):
        return self.find("--control-fd")

    def end(self, timeout=60):
        self.stdout, self.stderr = self.process.communicate(timeout=timeout)
        return self.process.returncode

    def kill(self):
        for pid in marked(self.mark):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self.process.communicate(timeout=10)

    def assert_nothing_left(self, rescued=0):
        """No process, so no namespace, device or socket of one, and no file."""
        until(lambda: not marked(self.mark), "the end of all processes", 10)
        assert len(list(self.temporary.iterdir())) == rescued
        left = [path.name for path in self.result_directory.glob("*")
                if path.name not in ("result.json", "result.txt", "result.md", "result.csv",
                                     "report.html")]
        assert left == []

    def report(self):
        """What `report` makes of it, and the JSON itself."""
        done = run("report", self.result_directory)
        assert done.returncode == 0, done.stderr
        result = self.kept()
        check(result)
        return done.stdout, result


@contextlib.contextmanager
def loading(directory, *words, **more):
    load = Load(directory, *words, **more)
    try:
        yield load
    finally:
        if load.process.poll() is None:
            load.kill()


def seconds(text):
    return float(text[:-2]) / 1000 if text.endswith("ms") else float(text[:-1])


def check(result):
    """The identities of every tally."""
    due_s = seconds(result["config"]["duration"])
    for arm in result["arms"]:
        for trial in arm["trials"]:
            tally = trial["tally"]
            assert tally["scheduled"] == sum(n for k, n in tally.items() if k != "scheduled")
            assert tally["scheduled"] == round(trial["due_per_s"] * due_s), tally


def problems(result):
    return [p["code"] for p in result["validity"]["problems"]]


def failures(result, arm=0):
    """Counts by phase, cause and code over all trials."""
    counts = {}
    for trial in result["arms"][arm]["trials"]:
        for f in trial.get("failures", []):
            key = (f["phase"], f["cause"], f["code"])
            counts[key] = counts.get(key, 0) + f["count"]
    return counts


def total(result, key, arm=0):
    return sum(trial["tally"][key] for trial in result["arms"][arm]["trials"])


@contextlib.contextmanager
def serving(directory, *words, port=0, mark=None):
    """`pqc-bench serve` on a port; yields (process, port, agent's address or None)."""
    port_file = directory / "port"
    with contextlib.suppress(FileNotFoundError):
        port_file.unlink()
    process = subprocess.Popen(
        [PROGRAM, "serve", "--listen", f"127.0.0.1:{port}", "--port-file", port_file,
         "--backend", "null", *map(str, words)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, encoding="utf-8", env=environment(**({MARK: mark} if mark else {})))
    try:
        agent = None
        for line in process.stdout:
            if line.startswith("agent on "):
                agent = line.split()[-1]
            if line.startswith("listening on "):
                break
        until(port_file.exists, "the port file")
        yield process, int(port_file.read_text()), agent
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        process.communicate(timeout=20)


def dump(result):
    return json.dumps(result["validity"], indent=1)
