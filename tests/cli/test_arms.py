# SPDX-License-Identifier: Apache-2.0
"""Are arms and group lists refused before a run where they could not work, and counted by
what was really negotiated where they do? (C5, C6 and malformed lists)"""
import pytest

from conftest import FAST, assert_usage_error, listed, run, strict_json

BAD_LISTS = ["?bogus", "X25519/-X25519", "X25519::X448", ":", "*", "?", "/", "X25519:", ":X25519",
             "X25519,X448", "X25519:BOGUS", "**X25519", "X25519:X25519", "-X25519",
             "X25519:-X25519", "X25519:x25519", "*X25519:*X448:*secp256r1:*secp384r1:*secp521r1",
             ":".join(["?g%d" % i for i in range(100)]), "X25519" * 50]
BAD_ARMS = ["", "noname", ": groups=X25519", "a b: groups=X25519", "a: groups", "a: groups=",
            "a: =X25519", "a: bogus=1", "a: groups=X25519 groups=X448", "a: cert=rsa-1",
            "a: tls=1.1", "a: resume=2", "a: resume=nan", "a: verify=maybe", "a: chain=long",
            "a: backend=bogus", "a/b: groups=X25519", "x" * 64 + ": groups=X25519",
            "a: baseline=nobody", "first: groups=X25519", "a: null-client=-1", "a: tickets=99"]


@pytest.mark.parametrize("groups", BAD_LISTS)
@pytest.mark.parametrize("key", ["groups", "server-groups"])
def test_a_malformed_group_list_is_refused(groups, key):
    if key == "server-groups" and groups == "X25519/-X25519":
        groups = "X25519/-X25519"
    done = run("cpu", *FAST, "--arm", f"a: backend=null {key}={groups}")
    assert_usage_error(done, "--arm: ", "a: ")


@pytest.mark.parametrize("arm", BAD_ARMS)
def test_a_malformed_arm_is_refused(arm):
    assert_usage_error(run("cpu", *FAST, "--arm", arm))


def test_two_arms_of_one_name_are_refused():
    done = run("cpu", *FAST, "--arm", "a: backend=null", "--arm", "a: backend=null")
    assert_usage_error(done, "a")


def test_more_arms_than_there_is_room_for_are_refused():
    words = [word for i in range(65) for word in ("--arm", f"a{i}: backend=null groups=X25519")]
    assert_usage_error(run("cpu", *FAST, *words), "--arm", "65")


def test_group_names_are_read_and_compared_without_case():
    done = run("cpu", *FAST, "--json", "-", "--arm", "a: backend=null groups=x25519mlKEM768")
    assert done.returncode == 0, done.stderr
    arm = strict_json(done.stdout)["arms"][0]
    assert arm["negotiated"]["group"] == "X25519MLKEM768"
    assert strict_json(done.stdout)["validity"]["problems"] == [] or all(
        problem["code"] != "wrong-group"
        for problem in strict_json(done.stdout)["validity"]["problems"])


def test_what_the_server_chose_is_what_is_counted():
    done = run("cpu", *FAST, "--json", "-",
               "--arm", "a: backend=null groups=*X25519MLKEM768:*X25519 server-groups=X25519")
    assert done.returncode == 0, done.stderr
    arm = strict_json(done.stdout)["arms"][0]
    assert arm["negotiated"]["group"] == "X25519"
    assert set(arm["negotiated"]["counts"]) == {"X25519"}


def backends_without(what):
    every = {name for backend in listed()["backends"] for name in backend[what]}
    for backend in listed()["backends"]:
        for name in sorted(every - set(backend[what])):
            yield backend, name


def test_a_group_that_a_backend_cannot_make_is_refused_by_both_names(tmp_path):
    for backend, group in backends_without("groups"):
        name = f"{backend['name']}-{backend['version']}"
        done = run("cpu", *FAST, "-o", tmp_path / "none", "--arm",
                   f"mine: backend={name} groups={group}")
        assert_usage_error(done, "mine", group, "not supported by", name)
        assert not (tmp_path / "none").exists()


def test_an_unknown_backend_names_those_that_are_there():
    done = run("cpu", *FAST, "--arm", "a: backend=bogus")
    assert_usage_error(done, "bogus", "null")
