# SPDX-License-Identifier: Apache-2.0
"""nginx and HAProxy as targets: what they negotiate, what they cost, and that they go."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import time

import pytest

import peers
from conftest import PROGRAM, ROOT, assert_usage_error, environment, run, strict_json
from test_agent import serving
from test_link import needs_link
from test_load import children_of, is_alive, needs_openssl

SERVERS = ["nginx", "haproxy"]
DAEMONS = "/usr/local/sbin:/usr/sbin:/sbin"
QUICK = ["--duration", "500ms", "--warmup", "0", "--trials", "1", "--rate", "40", "--grace",
         "5s", "--no-calibrate", "-q", "--json", "-"]
REFUSED_BY_ALL = [("groups=X25519 server-backend=openssl", "server-backend"),
                  ("groups=X25519 backend=null", "backend=null"),
                  ("groups=X25519 null-server=1ms", "null-server"),
                  ("groups=X25519 null-client=1ms", "null-client"),
                  ("groups=X25519 null-delay=1ms", "null-delay"),
                  ("groups=X25519 payload=65MiB", "payload"),
                  ("groups=X25519 resume=1 early-data=17k", "early-data")]


def program_of(name):
    """The program that load --server finds; a test without it says so."""
    found = peers.program(name) or shutil.which(name, path=f"{os.environ['PATH']}:{DAEMONS}")
    if found is None:
        pytest.skip(f"no {name}: tools/deps --peers")
    return found


@pytest.fixture(params=SERVERS, name="server")
def server_fixture(request):
    needs_openssl()
    program_of(request.param)
    return request.param


def old_nginx(folder, version, library):
    """It can say its version, and no more."""
    program = folder / "nginx"
    program.write_text(f"#!/bin/sh\necho 'nginx version: nginx/{version}\n"
                       f"built with OpenSSL {library} x\n"
                       "configure arguments: --with-http_ssl_module' >&2\n")
    program.chmod(0o755)
    return program


def load(server, *words, folder=None):
    more = {} if folder is None else {"env": environment(TMPDIR=str(folder))}
    return run("load", "--server", server, *QUICK, *words, **more)


def first_cores(count):
    """Of those that we may use."""
    cores = sorted(os.sched_getaffinity(0))[:count]
    if len(cores) < count:
        pytest.skip(f"not {count} cores")
    return cores


def as_list(cores):
    return ",".join(map(str, cores))


def arms_of(done):
    assert done.stdout, done.stderr
    return {arm["name"]: arm for arm in strict_json(done.stdout)["arms"]}


# ---- arguments ----

@pytest.mark.parametrize("words,parts", [
    (["--server", "apache"], ["--server", "embedded|nginx|haproxy"]),
    (["--server", "nginx", "--target", "127.0.0.1:9"], ["--server", "--target"]),
    (["--server-program", "/bin/true"], ["--server-program", "--server"]),
    (["--server", "nginx", "--server-program", "/no/such"], ["--server-program", "/no/such"]),
    (["--server", "haproxy", "--server-program", "/bin/true"],
     ["--server-program", "/bin/true", "no haproxy"]),
    (["--server", "nginx", "--server-program", "/etc/passwd"], ["--server-program"]),
])
def test_a_server_that_makes_no_sense_is_refused(words, parts):
    needs_openssl()
    assert_usage_error(run("load", *QUICK, "--arm", "a: groups=X25519", *words), *parts)


@pytest.mark.parametrize("arm,key", REFUSED_BY_ALL)
def test_keys_that_need_the_embedded_server_are_refused_by_name(server, arm, key):
    assert_usage_error(load(server, "--arm", "a: " + arm), "arm a", key, server)


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_that_is_not_there_is_told_with_the_way_to_get_it(server, tmp_path):
    needs_openssl()
    if shutil.which(server, path=DAEMONS):
        pytest.skip(f"this system has a {server} where daemons are looked for")
    done = run("load", *QUICK, "--server", server, "--arm", "a: groups=X25519",
               env=environment(XDG_CACHE_HOME=str(tmp_path), PATH=str(tmp_path)))
    assert_usage_error(done, "--server", server, "tools/deps --peers", "--server-program")


def test_an_old_one_that_was_found_is_told_with_the_way_to_get_another(tmp_path):
    needs_openssl()
    old_nginx(tmp_path, "1.24.0", "3.5.1")
    done = run("load", *QUICK, "--server", "nginx", "--arm", "a: groups=X25519",
               env=environment(XDG_CACHE_HOME=str(tmp_path), PATH=f"{tmp_path}:/bin"))
    assert_usage_error(done, "--server", "1.24.0", "too old", "tools/deps --peers")


@pytest.mark.parametrize("version,library,part", [
    ("1.24.0", "3.5.1", "too old"), ("1.26.0", "3.0.15", "X25519MLKEM768")])
def test_a_program_that_is_too_old_is_refused(version, library, part, tmp_path):
    needs_openssl()
    program = old_nginx(tmp_path, version, library)
    done = load("nginx", "--server-program", program, "--arm", "a: groups=X25519")
    assert_usage_error(done, "--server-program", str(program), part)


def test_a_program_that_does_not_start_is_an_error_with_its_reason(tmp_path):
    """It says what it should and then ends: the run names it, and nothing is left."""
    needs_openssl()
    program = tmp_path / "nginx"
    program.write_text("#!/bin/sh\nif [ \"$1\" = -V ]; then echo 'nginx version: nginx/1.26.0\n"
                       "built with OpenSSL 3.5.1 x\n--with-http_ssl_module'; exit; fi\n"
                       "echo 'nginx: [emerg] no such luck' >&2; exit 1\n")
    program.chmod(0o755)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = load("nginx", "--server-program", program, "--arm", "a: groups=X25519",
                folder=scratch)
    assert done.returncode == 1 and done.stdout == ""
    assert "nginx" in done.stderr and "no such luck" in done.stderr
    assert list(scratch.iterdir()) == []


# ---- what is negotiated, and what it costs ----

def test_each_arm_gets_its_group_and_the_server_its_cost(server, tmp_path):
    done = load(server, "--arm", "classical: groups=X25519", "--arm", "pq: groups=X25519MLKEM768",
                folder=tmp_path)
    assert done.returncode == 0, done.stderr
    result = strict_json(done.stdout)
    for arm, group in zip(result["arms"], ("X25519", "X25519MLKEM768")):
        assert arm["negotiated"]["counts"] == {group: 20}
        assert arm["negotiated"]["resumed"] == 0
        assert arm["trials"][0]["server_cpu_us"] > 0
        assert 0 < arm["trials"][0]["server_busy"] <= 1
        assert arm["server_backend"] == result["server"]["tls_library"]
    assert result["server"]["name"] == server
    said = subprocess.run([program_of(server), "-V" if server == "nginx" else "-vv"],
                          capture_output=True, text=True, check=True)
    assert result["server"]["version"] in said.stdout + said.stderr
    assert result["server"]["tls_library"].removeprefix("openssl-") in said.stdout + said.stderr
    assert list(tmp_path.iterdir()) == []


def test_cost_on_the_server_follows_what_it_does(server):
    """RSA-3072 signs ten times slower than P-256: noise does not hide that."""
    done = load(server, "--arm", "ec: groups=X25519", "--arm", "rsa: groups=X25519 cert=rsa-3072")
    arms = arms_of(done)
    ec, rsa = (arms[name]["trials"][0]["server_cpu_us"] for name in ("ec", "rsa"))
    assert rsa > 1.5 * ec, (ec, rsa)


@pytest.mark.parametrize("keys,expected", [
    ("cert=rsa-2048", {"signature": "rsa_pss_rsae_sha256"}),
    ("cert=ed25519 chain=leaf", {"signature": "ed25519"}),
    ("cert=mldsa65 chain=leaf+intermediate", {"signature": "mldsa65"}),
    ("tls=1.2 cert=rsa-2048", {"tls": "1.2", "cipher": "ECDHE-RSA-AES256-GCM-SHA384"}),
    ("cipher=TLS_CHACHA20_POLY1305_SHA256", {"cipher": "TLS_CHACHA20_POLY1305_SHA256"}),
    ("resume=1", {"resumed": 19}),
    ("resume=1 tls=1.2 cert=rsa-2048", {"resumed": 19, "tls": "1.2"}),
    ("tickets=2", {"resumed": 0}),
    ("payload=100k", {}),
])
def test_keys_of_an_arm_reach_the_server(server, keys, expected):
    # One at a time: the next finds the ticket of the last, however slow the machine is.
    done = load(server, "--rate", "40", "--workers", "1", "--max-in-flight", "1", "--grace", "20s",
                "--arm", "a: groups=X25519 " + keys)
    assert done.returncode == 0, done.stderr
    arm = arms_of(done)["a"]
    assert arm["trials"][0]["tally"]["completed"] == 20
    for key, value in expected.items():
        assert arm["negotiated"][key] == value, arm["negotiated"]


@pytest.mark.parametrize("workers", [1, 2])
def test_early_data_is_accepted_where_it_is_asked_for(server, workers):
    """On one worker and on two, which share what seals the tickets: in each handshake that had
    a ticket."""
    done = load(server, "--server-cores", as_list(first_cores(workers)), "--workers", "1", "--arm",
                "with: groups=X25519 resume=1 early-data=100", "--arm",
                "without: groups=X25519 resume=1")
    arms = arms_of(done)
    negotiated = arms["with"]["negotiated"]
    assert negotiated["early_data_accepted"] == negotiated["resume_offered"] >= 17
    assert negotiated["early_data_rejected"] == 0
    assert arms["without"]["negotiated"]["early_data_accepted"] == 0


def test_a_result_does_not_claim_a_protection_that_the_server_has_not(server):
    """test_early_data_can_be_replayed shows that it has none."""
    words = ["--arm", "early: groups=X25519 resume=1 early-data=100",
             "--arm", "full: groups=X25519"]
    done = load(server, *words)
    result = strict_json(done.stdout)
    assert [arm["spec"]["anti-replay"] for arm in result["arms"]] == ["off", "on"]
    notes = [p for p in result["validity"]["problems"] if p["code"] == "no-anti-replay"]
    assert [(note["arm"], note["severity"], server in note["message"]) for note in notes] == [
        ("early", "note", True)]
    done = run("load", *QUICK, *words)
    result = strict_json(done.stdout)
    assert [arm["spec"]["anti-replay"] for arm in result["arms"]] == ["on", "on"]
    assert "server" not in result and "no-anti-replay" not in done.stdout


@needs_link
def test_a_link_leads_to_it_too_and_its_cost_is_known(server, tmp_path):
    """A window of one segment makes the certificate's flight wait for the client's answers."""
    seen = {}
    for window in (1, 10):
        done = load(server, "--link", f"rtt=40ms,initcwnd={window}", "--arm",
                    "a: groups=X25519MLKEM768 cert=rsa-3072 chain=leaf+intermediate",
                    folder=tmp_path)
        assert done.returncode == 0, done.stderr
        result = strict_json(done.stdout)
        trial = result["arms"][0]["trials"][0]
        assert trial["tally"]["completed"] == 20 and trial["server_cpu_us"] > 0
        assert result["server"]["name"] == server
        assert trial["latency_us"]["tcp"]["min"] >= 40000
        seen[window] = trial["latency_us"]["tls"]["min"]
    assert 40000 <= seen[10] < 80000 <= seen[1], seen
    assert list(tmp_path.iterdir()) == []


def test_a_scenario_names_the_server_too(server, tmp_path):
    file = tmp_path / "s.ini"
    file.write_text("[load]\nduration = 300ms\nwarmup = 0\ntrials = 1\nrate = 40\n"
                    f"calibrate = off\nserver = {server}\n[arm a]\ngroups = X25519\n")
    done = run("run", file, "-q", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    file, = (tmp_path / "out").rglob("result.json")
    result = strict_json(file.read_text(encoding="utf-8"))
    assert result["server"]["name"] == server and result["config"]["server"] == server
    assert result["arms"][0]["negotiated"]["counts"] == {"X25519": 12}
    shown = run("report", file.parent).stdout.splitlines()[0]
    assert f"against {server} {result['server']['version']}" in shown


def test_arms_that_want_different_servers_get_them(server):
    """One process, three ports: groups, order and certificate each as the arm says."""
    done = load(server, "--rate", "60", "--interleave", "connection",
                "--arm", "a: groups=X25519 server-groups=X25519",
                "--arm", "hrr: groups=X25519MLKEM768:MLKEM1024 server-groups=MLKEM1024",
                "--arm", "rsa: groups=secp256r1 cert=rsa-2048")
    assert done.returncode == 0, done.stderr
    seen = {name: arm["negotiated"] for name, arm in arms_of(done).items()}
    assert seen["a"]["counts"] == {"X25519": 10}
    assert seen["hrr"]["counts"] == {"MLKEM1024": 10} and seen["hrr"]["hrr"] == 10
    assert seen["rsa"]["counts"] == {"secp256r1": 10}
    assert seen["rsa"]["signature"].startswith("rsa_pss")


# ---- tickets, as another client counts them ----

def s_client(port, *words):
    """What openssl's client wrote of one request, messages included."""
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3", "-groups", "X25519",
         "-msg", "-ign_eof", *map(str, words)],
        input="GET / HTTP/1.0\r\n\r\n", capture_output=True, encoding="utf-8", timeout=30,
        check=False)
    assert "\nOK\n" in done.stdout, done.stdout + done.stderr
    return done.stdout


def tickets_from(port):
    return s_client(port).count("NewSessionTicket")


def ports_of(pids):
    """Those that the processes listen on."""
    inodes = set()
    for pid in pids:
        for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                inodes.update(re.findall(r"socket:\[(\d+)\]", os.readlink(link)))
    rows = [row.split() for row in
            pathlib.Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]]
    return {int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and row[9] in inodes}


def test_each_arm_has_the_number_of_tickets_that_it_asks_for(server, tmp_path):
    """HAProxy has no setting for it: what OpenSSL itself reads has one."""
    numbers = [0, 1, 2, 5]
    words = [word for n in numbers for word in ("--arm", f"t{n}: groups=X25519 tickets={n}")]
    process, pids = start_run(server, tmp_path, "--duration", "20s", *words,
                              count=len(numbers))
    try:
        ports = ports_of([pid for pid in pids if command_of(pid) == server])
        assert len(ports) == len(numbers)
        assert sorted(map(tickets_from, ports)) == numbers
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert_gone(pids, tmp_path)


def affinities(pids):
    """Of all their threads."""
    tids = [int(task.name) for pid in pids for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
    return [os.sched_getaffinity(tid) for tid in tids]


def test_each_worker_has_a_core_of_its_own(server, tmp_path):
    cores = first_cores(2)
    process, pids = start_run(server, tmp_path, "--duration", "20s", cores=cores)
    try:
        for _ in range(200):  # threads begin when their process has
            seen = affinities([pid for pid in pids if command_of(pid) == server])
            if all({core} in seen for core in cores):
                break
            time.sleep(0.02)
        assert all({core} in seen for core in cores), seen
        assert set().union(*seen) == set(cores)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert_gone(pids, tmp_path)


# ---- nothing is left ----

def descendants(pid):
    found = []
    with contextlib.suppress(FileNotFoundError):
        for child in children_of(pid):
            found += [child] + descendants(child)
    return found


def command_of(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8") as f:
        return f.read().strip()
    return ""


def start_run(server, folder, *words, count=1, cores=None):
    """Returns when its servers are there, with all processes it has made."""
    arms = [] if "--arm" in words else ["--arm", "a: groups=X25519"]
    cores = cores or first_cores(1)
    process = subprocess.Popen(
        [PROGRAM, "load", "--server", server, "--warmup", "0", "--trials", "1", "--rate", "50",
         "--no-calibrate", "-q", "--server-cores", as_list(cores), *arms,
         *words],
        env=environment(TMPDIR=str(folder)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8")
    wanted = 1 + len(cores) if server == "nginx" else count  # nginx: a main one, its workers
    for _ in range(400):
        found = descendants(process.pid)
        # The folder is whole before the server starts; asking for its version comes before.
        if (list(folder.glob("*/0.config"))
                and [command_of(pid) for pid in found].count(server) == wanted):
            return process, found
        time.sleep(0.02)
    process.kill()
    raise AssertionError(f"no {server}")


def assert_gone(pids, folder):
    for _ in range(200):
        if not any(is_alive(pid) for pid in pids) and list(folder.iterdir()) == []:
            return
        time.sleep(0.05)
    raise AssertionError([(pid, command_of(pid)) for pid in pids if is_alive(pid)]
                         + list(folder.iterdir()))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_whatever_ends_the_run(server, number, tmp_path):
    process, pids = start_run(server, tmp_path, "--duration", "20s")
    folder, = tmp_path.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    keys = [path for path in folder.iterdir() if b"PRIVATE" in
            (path.read_bytes() if path.is_file() else b"")]
    assert keys and all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in keys)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert_gone(pids, tmp_path)


def test_a_supervisor_that_is_killed_takes_the_server_with_it(server, tmp_path):
    process, pids = start_run(server, tmp_path, "--duration", "20s")
    os.kill(children_of(process.pid)[0], signal.SIGKILL)
    process.kill()
    process.communicate(timeout=20)
    for _ in range(200):
        if not any(is_alive(pid) for pid in pids):
            return
        time.sleep(0.05)
    raise AssertionError([command_of(pid) for pid in pids if is_alive(pid)])


def test_a_server_that_dies_is_failed_handshakes_and_no_hang(server, tmp_path):
    process, pids = start_run(server, tmp_path, "--duration", "2s", "--grace", "1s", "--json", "-")
    time.sleep(0.7)
    for pid in pids:
        if command_of(pid) == server:
            os.kill(pid, signal.SIGKILL)
    out, _ = process.communicate(timeout=30)
    trial = strict_json(out)["arms"][0]["trials"][0]
    tally = trial["tally"]
    assert tally["scheduled"] == 100 and tally["completed"] < 100
    assert "server_cpu_us" not in trial  # the processes are gone: no figure, not a wrong one
    assert_gone(pids, tmp_path)


# ---- a server that runs already, and the agent beside it ----

def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def make_certificate(folder):
    key, certificate = peers.self_signed(folder)
    (folder / "certificate.pem").write_bytes(certificate.read_bytes())
    (folder / "server.pem").write_bytes(certificate.read_bytes() + key.read_bytes())


def accepts(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextlib.contextmanager
def deployed(server, folder, **environment_too):
    """The configuration of deploy/ as it is, but for its ports: (ports, pid, name)."""
    shutil.copytree(ROOT / "deploy" / server, folder, dirs_exist_ok=True)
    make_certificate(folder)
    file = folder / ("nginx.conf" if server == "nginx" else "haproxy.cfg")
    ports = free_ports(3)
    text = file.read_text(encoding="utf-8")
    for old, new in zip(("8443", "8444", "8445"), ports):
        assert text.count(f" {old} ssl") + text.count(f":{old} ssl") == 1
        text = text.replace(f" {old} ssl", f" 127.0.0.1:{new} ssl")
        text = text.replace(f" :{old} ssl", f" 127.0.0.1:{new} ssl")
    file.write_text(text, encoding="utf-8")
    name = f"{server[:3]}{os.getpid()}"  # processes of others have other names
    (folder / name).symlink_to(program_of(server))
    words = (["-p", f"{folder}/", "-e", "stderr", "-c", "nginx.conf"] if server == "nginx"
             else ["-db", "-f", file.name])
    process = subprocess.Popen([folder / name, *words], cwd=folder, stderr=subprocess.PIPE,
                               env=environment(**environment_too))
    try:
        for _ in range(200):
            if process.poll() is not None or all(map(accepts, ports)):
                break
            time.sleep(0.02)
        assert process.poll() is None, process.stderr.read()
        yield ports, process.pid, name
    finally:
        process.terminate()
        process.communicate(timeout=10)


def cpu_seconds(pid):
    def of(one):
        with open(f"/proc/{one}/stat", encoding="utf-8") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return sum(map(of, [pid] + descendants(pid)))


def test_a_deployed_server_and_the_agent_give_its_cost_by_arm(server, tmp_path):
    """What the kernel's own account says of the processes is what the trials add up to."""
    ticks_s = 4 / os.sysconf("SC_CLK_TCK")  # two readings of two processes
    with deployed(server, tmp_path) as (ports, pid, name), \
            serving("--agent", ":0", "--process", name) as agent:
        before = cpu_seconds(pid)
        done = run("load", *QUICK, "--rate", "200", "--duration", "1s", "--target",
                   f"127.0.0.1:{ports[0]}", "--sni", "localhost", "--roots",
                   tmp_path / "certificate.pem", "--agent", agent.agent, "--arm",
                   "classical: groups=X25519", "--arm", "pq: groups=X25519MLKEM768")
        spent = cpu_seconds(pid) - before
    assert done.returncode == 0, done.stderr
    told = 0
    for arm, group in zip(arms_of(done).values(), ("X25519", "X25519MLKEM768")):
        trial = arm["trials"][0]
        completed = trial["tally"]["completed"]
        assert completed > 100, trial
        assert arm["negotiated"]["counts"] == {group: completed}
        told += trial["server_cpu_us"] * completed / 1e6
    assert 0.5 * spent - ticks_s < told < spent + ticks_s


def resumes_at(port, tmp_path):
    done = run("load", *QUICK, "--target", f"127.0.0.1:{port}", "--sni", "localhost",
               "--roots", tmp_path / "certificate.pem", "--arm",
               "a: groups=X25519MLKEM768 resume=1 early-data=100")
    assert done.returncode == 0, done.stderr
    negotiated = arms_of(done)["a"]["negotiated"]
    return negotiated["resumed"] > 0, negotiated["early_data_accepted"] > 0


def test_the_variants_of_a_deployed_server_do_what_they_say(server, tmp_path):
    with deployed(server, tmp_path) as (ports, _, _):
        assert [resumes_at(port, tmp_path) for port in ports] == [(False, False), (True, False),
                                                                  (True, True)]
        # HAProxy's first port sends two that nobody can use.
        assert [tickets_from(port) for port in ports] == [0 if server == "nginx" else 2, 2, 2]


def test_a_deployed_haproxy_sends_no_ticket_where_openssl_is_told_so(tmp_path):
    needs_openssl()
    program_of("haproxy")
    with deployed("haproxy", tmp_path, OPENSSL_CONF=str(tmp_path / "no-tickets.cnf")) as (
            ports, _, _):
        assert [tickets_from(port) for port in ports] == [0, 0, 0]


def test_early_data_can_be_replayed(server, tmp_path):
    """As the comments in the configurations say."""
    request, session = tmp_path / "request", tmp_path / "session"
    request.write_text("GET / HTTP/1.0\r\n\r\n")
    with deployed(server, tmp_path) as (ports, _, _):
        s_client(ports[2], "-sess_out", session)
        for _ in range(2):
            said = s_client(ports[2], "-sess_in", session, "-early_data", request)
            assert "Early data was accepted" in said
        said = s_client(ports[1], "-sess_out", session)
        said = s_client(ports[1], "-sess_in", session, "-early_data", request)
        assert "Reused" in said and "Early data was not sent" in said
