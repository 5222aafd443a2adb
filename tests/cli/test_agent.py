# SPDX-License-Identifier: Apache-2.0
"""Does the agent tell what a server really costs, and does load make figures of it?"""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from conftest import PROGRAM, assert_usage_error, environment, listed, run, strict_json
from faults import until

ARM = "a: groups=X25519 backend=null"
QUICK = ["--trials", "1", "--warmup", "0", "--no-calibrate", "-q", "--json", "-"]

# Burns CPU until its input ends; says its CPU time in ns for each line it reads. "child"
# burns in a child that it waits for.
BURNER = """
import os, resource, select, sys, time
open("/proc/self/comm", "w").write(sys.argv[1])
def used():
    return sum(round((u.ru_utime + u.ru_stime) * 1e9) for u in
               map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
print(used(), flush=True)
while True:
    if select.select([sys.stdin], [], [], 0 if "busy" in sys.argv else None)[0]:
        word = sys.stdin.readline().strip()
        if not word:
            break
        if word == "child":
            for _ in range(10):
                if os.fork() == 0:
                    burn(0.03)
                    os._exit(0)
                os.wait()
        print(used(), flush=True)
    burn(0.002 if "busy" in sys.argv else 0)
"""


class Burner:
    def __init__(self, name, *how):
        self.process = subprocess.Popen([sys.executable, "-c", BURNER, name, *how],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding="ascii", bufsize=1)
        self.process.stdout.readline()

    def used(self, word="?"):
        self.process.stdin.write(word + "\n")
        return int(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)


@contextlib.contextmanager
def burning(count, name, *how):
    burners = [Burner(name, *how) for _ in range(count)]
    try:
        yield burners
    finally:
        for burner in burners:
            burner.end()


class Served:
    """A running `serve`, and where it said that it listens."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", *map(str, words)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment(), encoding="utf-8")
        self.agent = self.listen = None
        for line in self.process.stdout:
            if line.startswith("agent on "):
                self.agent = line.split()[-1]
            if line.startswith("listening on "):
                self.listen = line.split()[-1]
            if self.listen or "--listen" not in words:
                break

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.agent}{path}", timeout=10) as answer:
            assert answer.headers["Content-Type"] == "application/json"
            return strict_json(answer.read().decode("utf-8"))

    def sample(self):
        return self.get("/v1/sample")

    def rows(self, since=0):
        page = self.get(f"/v1/series?since={since}")
        return [dict(zip(page["fields"], row)) for row in page["rows"]]

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.communicate(timeout=20)


@contextlib.contextmanager
def serving(*words):
    served = Served(*words)
    try:
        yield served
    finally:
        served.end()


# ---- arguments ----

@pytest.mark.parametrize("words,parts", [
    (["--agent", ":0", "--process", "no-such-name"], ["--process", "no-such-name"]),
    (["--agent", ":0", "--pid", "4194304"], ["--pid", "4194304", "no such process"]),
    (["--agent", ":0", "--pid", "0"], ["--pid"]),
    (["--agent", ":0", "--process", ""], ["--process"]),
    (["--agent", ":0", "--process", "x", "--pid", "1"], ["--pid", "--process"]),
    (["--pid", "1"], ["--pid", "--agent"]),
    (["--process", "x"], ["--process", "--agent"]),
    (["--listen", "none"], ["--listen", "--agent"]),
    (["--agent", "nonsense"], ["--agent", "nonsense"]),
    (["--agent", "127.0.0.1:70000"], ["--agent"]),
])
def test_what_cannot_be_watched_is_a_usage_error(words, parts):
    assert_usage_error(run("serve", *words), *parts)


@pytest.mark.parametrize("words,parts", [
    (["--agent", "127.0.0.1:9"], ["--agent", "--target"]),
    (["--agent", "nonsense", "--target", "127.0.0.1:9"], ["--agent", "nonsense"]),
])
def test_load_refuses_an_agent_that_makes_no_sense(words, parts):
    assert_usage_error(run("load", "--arm", ARM, *words), *parts)


def test_two_agents_on_one_port_are_refused():
    with serving("--agent", ":0") as first:
        done = run("serve", "--agent", first.agent)
        assert done.returncode == 1 and done.stdout == ""
        assert first.agent in done.stderr and "in use" in done.stderr


def test_it_listens_on_loopback_unless_told_otherwise():
    with serving("--agent", ":0") as here, serving("--agent", "0.0.0.0:0") as everywhere:
        assert here.agent.startswith("127.0.0.1:")
        assert everywhere.agent.startswith("0.0.0.0:")
        port = int(here.agent.split(":")[1])
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=5)


# ---- what it says ----

def test_the_answers_are_whole_and_only_these():
    with serving("--agent", ":0") as served:
        sample, host = served.sample(), served.get("/v1/host")
        assert sample["schema"] == host["schema"] == "pqc-bench-agent/1"
        assert sample["target"] == "self" and sample["present"] is True
        assert sample["processes"] == 1 and sample["cores"] >= 1
        before = time.monotonic_ns()
        at = served.sample()["at_ns"]
        assert before < at < time.monotonic_ns()
        assert host["cores"] == os.cpu_count()
        until(lambda: len(served.rows()) >= 5, "five rows")
        rows = served.rows()
        assert all(a["at_ns"] < b["at_ns"] and a["cpu_ns"] <= b["cpu_ns"]
                   for a, b in zip(rows, rows[1:]))
        assert served.rows(rows[3]["at_ns"])[0]["at_ns"] == rows[4]["at_ns"]
        for path in ["/", "/v1", "/v1/samples", "/v1/series?since=", "/v1/series?since=-1",
                     "/v1/series?since=1x", "/v1/series?since=99999999999999999999",
                     "/v1/../etc/passwd", "/proc/1/environ"]:
            with pytest.raises(urllib.error.HTTPError) as refused:
                served.get(path)
            assert refused.value.code == 404
            refused.value.close()


def test_processes_by_name_cost_what_they_say_themselves():
    """Each reading of the agent lies between two of the processes' own: no tolerance."""
    name = f"burn{os.getpid()}"
    with burning(2, name, "busy") as burners, serving("--agent", ":0", "--process",
                                                      name) as served:
        def own():
            return sum(burner.used() for burner in burners)
        first = own()
        a = served.sample()
        second = own()
        third = until(lambda: (now := own()) - second > 0.3e9 and now, "CPU time used")
        b = served.sample()
        fourth = own()
        assert a["processes"] == b["processes"] == 2
        assert third - second <= b["cpu_ns"] - a["cpu_ns"] <= fourth - first
        assert b["cpu_ns"] - a["cpu_ns"] > 0.2e9
        late = Burner(name, "busy")
        try:
            until(lambda: served.sample()["processes"] == 3, "the third process")
        finally:
            late.end()


def test_children_that_ended_are_not_lost():
    name = f"fork{os.getpid()}"
    with burning(1, name) as burners, serving("--agent", ":0", "--process", name) as served:
        before, own_before = served.sample()["cpu_ns"], burners[0].used()
        own = burners[0].used("child") - own_before
        assert own > 0.28e9
        seen = until(lambda: (now := served.sample()["cpu_ns"] - before) > 0.9 * own and now,
                     "the children's time")
        assert seen < 1.1 * own


def test_a_process_that_goes_away_is_not_present():
    burner = Burner("short")
    with serving("--agent", ":0", "--pid", burner.process.pid) as served:
        burner.used()
        before = served.sample()
        assert before["present"] is True and before["target"] == f"pid {burner.process.pid}"
        burner.end()
        after = until(lambda: not (now := served.sample())["present"] and now, "its absence")
        assert after["processes"] == 0
        assert after["cpu_ns"] >= before["cpu_ns"]


def test_an_idle_agent_costs_little():
    with serving("--agent", ":0", "--process", pathlib.Path("/proc/self/comm").read_text()
                 .strip()) as served:
        def used():
            tasks = pathlib.Path(f"/proc/{served.process.pid}/task").iterdir()
            return sum(int((t / "schedstat").read_text().split()[0]) for t in tasks)
        until(lambda: len(served.rows()) >= 5, "five rows")
        began_ns, before = time.monotonic_ns(), used()
        time.sleep(3)  # what is measured: CPU of an idle agent
        assert used() - before < 0.05 * (time.monotonic_ns() - began_ns)


# ---- load --agent ----

def server_threads_ns(pid):
    """CPU of the server's own threads, by another way than the agent's."""
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
               if (task / "comm").read_text().strip() == "server")


def arm_for_costs():
    if any(b["name"] == "openssl" for b in listed()["backends"]):
        return "a: groups=X25519", []
    return ARM, ["--backend", "null"]


def load(served, root, *words, arm=ARM):
    return run("load", "--target", served.listen, "--sni", "localhost", "--agent", served.agent,
               "--roots", root, "--arm", arm, *QUICK, *words)


def test_server_cpu_per_handshake_is_what_its_threads_used(tmp_path):
    arm, backend = arm_for_costs()
    root = tmp_path / "root.pem"
    with serving("--listen", "127.0.0.1:0", "--agent", ":0", "--root-file", root,
                 *backend) as served:
        before = server_threads_ns(served.process.pid)
        done = load(served, root, "--rate", "100", "--duration", "2s", arm=arm)
        used = server_threads_ns(served.process.pid) - before
    assert done.returncode == 0, done.stderr
    result = strict_json(done.stdout)
    trial = result["arms"][0]["trials"][0]
    told = trial["server_cpu_us"] * 1e3 * trial["tally"]["completed"]
    # The threads' own sampling before and after the trial is in `used` alone.
    assert trial["tally"]["completed"] == 200
    assert 0.95 * used < told < 1.02 * used
    assert 0 < trial["server_busy"] <= 1
    client, server = result["hosts"]
    assert (client["role"], server["role"]) == ("client", "server")
    assert server["cores"] == os.cpu_count()
    # One machine, one clock.
    assert abs(server["clock_offset_ns"]) <= server["clock_error_ns"]
    assert "clock_offset_ns" not in client


def find_child(parent):
    def look():
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (b"--control-fd" in (path / "cmdline").read_bytes() and
                        f"PPid:\t{parent}\n" in (path / "status").read_text()):
                    return int(path.name)
        return None
    return until(look, "an embedded server")


def test_an_agent_sees_the_embedded_server_as_it_sees_itself():
    """The same handshakes, told by the server and by an agent beside it."""
    costly = "a: groups=X25519 backend=null null-client=20us null-server=2ms"
    with subprocess.Popen([PROGRAM, "load", "--arm", costly, *QUICK, "--rate", "100",
                           "--duration", "6s"], stdout=subprocess.PIPE,
                          env=environment(), encoding="utf-8") as process:
        child = find_child(process.pid)
        with serving("--agent", ":0", "--pid", child) as served:
            result = strict_json(process.communicate(timeout=60)[0])
            # The whole life of the server: its start, of some 50 ms, is in it too.
            seen = served.rows()[-1]["cpu_ns"]
    trial = result["arms"][0]["trials"][0]
    told = trial["server_cpu_us"] * 1e3 * trial["tally"]["completed"]
    assert trial["tally"]["completed"] > 500
    assert told > 1e9
    assert 0.98 * told < seen < 1.1 * told


def test_an_agent_that_is_lost_is_named_and_the_run_goes_on(tmp_path):
    root = tmp_path / "root.pem"
    with serving("--listen", "127.0.0.1:0", "--backend", "null", "--root-file", root) as target:
        with serving("--agent", ":0", "--pid", target.process.pid) as agent:
            process = subprocess.Popen(
                [PROGRAM, "load", "--target", target.listen, "--sni", "localhost", "--roots",
                 str(root), "--agent", agent.agent, "--arm", ARM, *QUICK, "--rate", "50",
                 "--duration", "2s", "--trials", "2", "-o", str(tmp_path / "r")],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
                encoding="utf-8")
            until((tmp_path / "r" / "result.json").exists, "the first trial")
            agent.process.kill()
            stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    result = strict_json(stdout)
    first, second = result["arms"][0]["trials"]
    problems = [(p["code"], p["severity"], p.get("arm"), p.get("trial"))
                for p in result["validity"]["problems"]]
    assert ("agent-lost", "note", "a", 2) in problems, problems
    assert "server_cpu_us" not in second and "server_busy" not in second
    assert second["tally"]["completed"] == 100
    assert first["tally"]["completed"] == 100


def test_an_agent_that_is_none_ends_the_run_at_its_start():
    with socket.create_server(("127.0.0.1", 0)) as silent, serving(
            "--listen", "127.0.0.1:0", "--backend", "null") as target:
        port = silent.getsockname()[1]
        done = run("load", "--target", target.listen, "--arm", ARM, *QUICK, "--agent",
                   f"127.0.0.1:{port}", "--duration", "1s", timeout=120)
        assert done.returncode == 1 and f"--agent: 127.0.0.1:{port}" in done.stderr
        silent.close()
        done = run("load", "--target", target.listen, "--arm", ARM, *QUICK, "--agent",
                   f"127.0.0.1:{port}", "--duration", "1s")
        assert done.returncode == 1 and "refused" in done.stderr


@pytest.mark.parametrize("answer", [
    b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n{",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", b"",
])
def test_a_stranger_is_no_agent(answer, tmp_path):
    program = tmp_path / "stranger.py"
    program.write_text(
        "import socket, sys\n"
        "s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)\n"
        "while True:\n"
        "    c, _ = s.accept(); c.settimeout(5)\n"
        "    try:\n"
        f"        c.recv(4096) and c.sendall({answer!r})\n"
        "    except OSError:\n        pass\n"
        "    c.close()\n")
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE) as stranger:
        try:
            port = int(stranger.stdout.readline())
            done = run("load", "--target", "127.0.0.1:9", "--arm", ARM, *QUICK, "--agent",
                       f"127.0.0.1:{port}", "--duration", "1s")
        finally:
            stranger.kill()
    assert done.returncode == 1, done
    assert re.match(r"pqc-bench load: --agent: ", done.stderr), done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("is_within", [True, False])
def test_a_stopped_server_is_the_cause_that_is_named(is_within, tmp_path):
    """The agent in the server's process is stopped too; one beside it is not."""
    root = tmp_path / "root.pem"
    listen = ["--listen", "127.0.0.1:0", "--backend", "null", "--root-file", root]
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(serving(*listen, *(["--agent", ":0"] if is_within else [])))
        agent = target if is_within else stack.enter_context(
            serving("--agent", ":0", "--pid", target.process.pid))
        before = server_threads_ns(target.process.pid)
        process = subprocess.Popen(
            [PROGRAM, "load", "--target", target.listen, "--sni", "localhost", "--roots",
             str(root), "--agent", agent.agent, "--arm", ARM, *QUICK, "--rate", "100",
             "--duration", "4s"], stdout=subprocess.PIPE, env=environment(), encoding="utf-8")
        # More than what is asked before the trial: some tens of handshakes.
        until(lambda: server_threads_ns(target.process.pid) > before + 5e6, "the trial")
        target.process.send_signal(signal.SIGSTOP)
        time.sleep(0.8)
        target.process.send_signal(signal.SIGCONT)
        result = strict_json(process.communicate(timeout=120)[0])
    slow = [s for s in result["arms"][0]["trials"][0]["slowest"] if s["response_us"] > 300e3]
    causes = [s["cause"] for s in slow]
    assert len(slow) >= 20
    assert causes.count("server-preempted") >= 0.8 * len(causes), causes
