# SPDX-License-Identifier: Apache-2.0
"""nginx and HAProxy as they came into the cache (tools/deps --peers), with sessions."""
import contextlib
import glob
import os
import shutil
import socket
import subprocess
import time

NGINX = """
daemon off; master_process off; error_log {dir}/error.log notice; pid {dir}/pid;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {dir}/body;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {dir}/cert.pem; ssl_certificate_key {dir}/key.pem;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_conf_command Groups X25519MLKEM768:X25519:secp256r1;
    ssl_session_cache shared:s:10m; ssl_session_tickets on; ssl_early_data {early};
    location / {{ return 200 "OK\\n"; }}
  }}
}}
"""
HAPROXY = """
global
  nbthread 1
  maxconn 500
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 10s
frontend f
  bind 127.0.0.1:{port} ssl crt {dir}/both.pem curves X25519MLKEM768:X25519:secp256r1 {early}
  http-request return status 200 content-type text/plain string OK
"""


def program(name):
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    found = sorted(glob.glob(f"{folder}/pqc-bench/{name}-*/bin/{name}"))
    return found[-1] if found else None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, process):
    for _ in range(200):
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        time.sleep(0.05)
    return False


def self_signed(directory):
    """Key and certificate as files."""
    key, cert = directory / "key.pem", directory / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert], check=True, capture_output=True)
    return key, cert


@contextlib.contextmanager
def serving(name, directory, early=False):
    """The port of a fresh server; its certificate is its own, so clients cannot verify it."""
    key, cert = self_signed(directory)
    (directory / "both.pem").write_bytes(cert.read_bytes() + key.read_bytes())
    (directory / "body").mkdir()
    port = free_port()
    config = directory / "config"
    if name == "nginx":
        config.write_text(NGINX.format(dir=directory, port=port, early="on" if early else "off"))
        words = [program(name), "-p", directory, "-c", config, "-e", directory / "error.log"]
    else:
        config.write_text(HAPROXY.format(dir=directory, port=port,
                                         early="allow-0rtt" if early else ""))
        words = [program(name), "-db", "-f", config]
    with open(directory / "log", "wb") as log, \
            subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:
        try:
            assert wait_for(port, process), (directory / "log").read_text()
            yield port
        finally:
            process.terminate()


def is_there(name):
    return program(name) is not None and shutil.which("openssl") is not None
