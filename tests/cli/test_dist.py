# SPDX-License-Identifier: Apache-2.0
"""Is what tools/dist makes a package that installs anywhere, and the same bytes each time?"""
import hashlib
import io
import os
import re
import shutil
import stat
import subprocess
import tarfile

import pytest

from conftest import LONG, ROOT, environment

DIST = ROOT / "tools" / "dist"
SUITES = ["bookworm", "trixie", "testing"]
TRY = ("pqc-bench run scenarios/quick.ini --set handshakes=50 --set repeats=3 "
       "--set duration=1s --set trials=2 -o /tmp/result && test -s /tmp/result/cpu/result.json "
       "&& test -s /tmp/result/load/result.json")


def sh(*words, **more):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False,
                          **{"timeout": 600, "env": environment(), **more})


def must(*words, **more):
    done = sh(*words, **more)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def make(source, out, temp, **more):
    """A release of the last commit, built in a folder below temp."""
    temp.mkdir()
    must(source / "tools" / "dist", "-o", out, cwd="/",
         env=environment(TMPDIR=str(temp), **more))
    assert not list(temp.iterdir()), "something was left behind"
    return {path.name: path for path in out.iterdir()}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    for tool in ("git", "dpkg-deb", "readelf", "meson"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    if sh("git", "-C", ROOT, "rev-parse", "HEAD").returncode != 0:
        pytest.skip("not a clone of the repository")
    folder = tmp_path_factory.mktemp("release")
    return make(ROOT, folder / "out", folder / "build-here")


def only(release, suffix):
    (path,) = (path for name, path in release.items() if name.endswith(suffix))
    return path


@pytest.fixture(scope="module")
def root(release, tmp_path_factory):
    """The package, unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    must("dpkg-deb", "--raw-extract", only(release, ".deb"), folder)
    return folder


def members(release):
    """Of the package's content: tarfile's records."""
    done = subprocess.run(["dpkg-deb", "--fsys-tarfile", only(release, ".deb")],
                          capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
        return tar.getmembers()


def elf_files(root):
    return [path for path in sorted((root / "usr").rglob("*")) if path.is_file()
            and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"]


def test_another_folder_makes_the_same_bytes(release, tmp_path):
    clone = tmp_path / "a folder with another name"
    must("git", "clone", "-q", ROOT, clone)
    again = make(clone, tmp_path / "out", tmp_path / "build-elsewhere", CCACHE_DISABLE="1",
                 TZ="Asia/Kathmandu", LC_ALL="C.UTF-8")
    assert sorted(again) == sorted(release)
    for name, path in again.items():
        assert path.read_bytes() == release[name].read_bytes(), name


def test_the_sums_are_those_of_the_files(release):
    lines = release["SHA256SUMS"].read_text().splitlines()
    told = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert told == {name: hashlib.sha256(path.read_bytes()).hexdigest()
                    for name, path in release.items() if name != "SHA256SUMS"}


def test_the_tar_file_has_what_the_commit_has_and_nothing_else(release):
    with tarfile.open(only(release, ".tar.gz")) as tar:
        (top,) = {member.name.split("/")[0] for member in tar}
        names = {member.name[len(top) + 1:] for member in tar if not member.isdir()}
        assert {member.uid for member in tar} == {0}
    assert re.fullmatch(r"pqc-bench-\d+\.\d+\.\d+(~git\d{8}\.[0-9a-f]{12})?", top)
    assert names == set(must("git", "-C", ROOT, "ls-tree", "-r", "--name-only",
                             "HEAD").splitlines())


def test_the_package_has_the_program_and_all_that_belongs_to_it(root):
    usr = root / "usr"
    (modules,) = usr.glob("lib/*/pqc-bench")
    assert {path.name for path in modules.iterdir()} >= {"pqc-bench-tls-null.so"}
    assert any("openssl" in path.name for path in modules.iterdir())
    assert sorted(path.name for path in (usr / "share/pqc-bench/scenarios").iterdir()) == \
        sorted(path.name for path in (ROOT / "scenarios").iterdir())
    for name in ("share/man/man1/pqc-bench.1.gz", "share/doc/pqc-bench/copyright",
                 "share/bash-completion/completions/pqc-bench.bash",
                 "share/doc/pqc-bench/changelog.gz", "share/doc/pqc-bench/changelog.Debian.gz",
                 "share/doc/pqc-bench/docs/METHOD.md"):
        assert (usr / name).is_file(), name
    assert {path.name for path in usr.iterdir()} == {"bin", "lib", "share"}


def test_its_files_are_roots_and_nobody_elses_to_write(release):
    commit = int(must("git", "-C", ROOT, "log", "-1", "--format=%ct"))
    for member in members(release):
        assert (member.uid, member.gid) == (0, 0), member.name
        assert member.mtime == commit, member.name
        if member.issym():
            assert not member.linkname.startswith("/")
            continue
        is_program = member.isdir() or member.name == "./usr/bin/pqc-bench"
        assert member.mode == (0o755 if is_program else 0o644), member.name
        assert member.isdir() or member.isreg()


def test_no_path_of_the_build_is_in_it(root, release):
    home = os.path.expanduser("~")
    foreign = [str(ROOT), str(only(release, ".deb").parents[1]), "build-here",
               os.environ.get("XDG_CACHE_HOME", home + "/.cache")]
    for path in (path for path in root.rglob("*") if path.is_file()):
        content = path.read_bytes()
        for text in foreign:
            assert text.encode() not in content, (path, text)


def test_it_depends_on_the_c_library_alone_in_a_version_that_is_enough(root):
    control = (root / "DEBIAN/control").read_text()
    (version,) = re.findall(r"^Depends: libc6 \(>= (2\.\d+)\)$", control, re.M)
    wanted = set()
    for path in elf_files(root):
        dynamic = must("readelf", "-dW", path)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\.so", dynamic))
        assert {name.split("-")[0] for name in needed} <= {"libc", "libm", "libdl", "ld",
                                                           "libresolv", "libpthread"}, path
        assert "RPATH" not in dynamic and "RUNPATH" not in dynamic, path
        assert ".debug_info" not in must("readelf", "-SW", path), path
        wanted |= {tuple(map(int, found.split(".")))
                   for found in re.findall(r"GLIBC_(2\.\d+)", must("readelf", "-VW", path))}
    assert len(elf_files(root)) >= 3
    assert tuple(map(int, version.split("."))) == max(wanted)


def test_what_dpkg_is_told_of_the_files_is_true(root):
    files = {str(path.relative_to(root)): path for path in (root / "usr").rglob("*")
             if path.is_file() and not path.is_symlink()
             and not any(parent.is_symlink() for parent in path.parents)}
    told = dict(line.split("  ")[::-1] for line in
                (root / "DEBIAN/md5sums").read_text().splitlines())
    assert told == {name: hashlib.md5(path.read_bytes()).hexdigest()
                    for name, path in files.items()}
    (size,) = re.findall(r"^Installed-Size: (\d+)$", (root / "DEBIAN/control").read_text(), re.M)
    assert int(size) == sum(-(-path.stat().st_size // 1024) for path in files.values())
    assert stat.S_IMODE((root / "DEBIAN").stat().st_mode) == 0o755


def test_the_unpacked_program_measures_by_its_own_modules_and_scenarios(root, tmp_path):
    program = root / "usr/bin/pqc-bench"
    assert must(program, "run", "quick", "--check", cwd="/") == ""
    must(program, "run", "quick", "-q", "--set", "cpu.handshakes=20", "--set", "cpu.repeats=2",
         "--set", "load.duration=500ms", "--set", "load.trials=2", "-o", tmp_path / "result",
         cwd="/")
    assert sorted(path.name for path in tmp_path.glob("result/*/result.json")) == \
        ["result.json"] * 2


@pytest.mark.parametrize("words, part", [
    (["--arch", "vax"], "amd64 or arm64"), (["--arch"], "needs a value"),
    (["--maintainer", "me"], "NAME <ADDRESS>"), (["--maintainer", "a|b <c@d>"], "NAME <ADDRESS>"),
    (["--nonesuch"], "unknown option"), (["here"], "unknown option")])
def test_wrong_words_are_refused(words, part):
    done = sh(DIST, *words)
    assert done.returncode == 2 and part in done.stderr


@pytest.mark.skipif(not LONG, reason="takes minutes")
@pytest.mark.parametrize("suite", SUITES)
def test_it_installs_and_measures_in_a_clean(suite, release):
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("needs root and debootstrap")
    package = only(release, ".deb")
    must(ROOT / "tools" / "cleanroot", "--copy", package, "--run",
         "apt-get -q update && apt-get -q install -y --no-install-recommends "
         f"./{package.name}", "--run", TRY, suite, timeout=1200)


@pytest.mark.skipif(not LONG, reason="takes minutes")
def test_the_package_for_arm64_is_for_arm64(tmp_path):
    if must("dpkg", "--print-architecture").strip() != "amd64":
        pytest.skip("cross-built on amd64")
    must(DIST, "--arch", "arm64", "--no-tests", "-o", tmp_path / "out", timeout=1200)
    (package,) = (tmp_path / "out").glob("*_arm64.deb")
    assert must("dpkg-deb", "-f", package, "Architecture").strip() == "arm64"
    must("dpkg-deb", "-x", package, tmp_path / "root")
    files = elf_files(tmp_path / "root")
    assert len(files) >= 3
    for path in files:
        assert "AArch64" in must("readelf", "-h", path)
    (program,) = (path for path in files if path.parent.name == "bin")
    done = must("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", program, "cpu", "-q",
                "--handshakes", "20", "--repeats", "2", "--arm", "a: groups=X25519MLKEM768",
                "--json", "-")
    assert '"group":"X25519MLKEM768"' in done.replace(" ", "")
