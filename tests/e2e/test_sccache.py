# SPDX-License-Identifier: Apache-2.0 OR MIT
"""sccache, whose server runs the compilers of its clients."""

import contextlib
import os
import shlex
import shutil
import signal
import socket

import lab
import workspace


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def start_server(t):
    """A server of another session, with an empty cache: (its process, the clients' environment)."""
    sccache = shutil.which("sccache")
    if not sccache:
        raise lab.Skip("sccache is not installed")
    port = free_port()
    env = {"SCCACHE_DIR": t.mkdir("cache"), "SCCACHE_SERVER_PORT": str(port)}
    server = t.start_plain([sccache], start_new_session=True, env={
        **env, "SCCACHE_START_SERVER": "1", "SCCACHE_NO_DAEMON": "1"})
    lab.wait_for("the server", lambda: answers(port))
    # It caches no incremental compiles.
    return server, {**env, "RUSTC_WRAPPER": sccache, "CARGO_INCREMENTAL": "0"}


def test_its_compilers_are_recorded_for_their_client(t):
    t.need_capture()
    server, env = start_server(t)
    argv, cargo_env = workspace.cargo(t, "build", "-q")
    where = workspace.make(t)
    for attempt in range(5):
        clean = {"SCCACHE_RECACHE": "1", "CARGO_TARGET_DIR": t.path("target-%d" % attempt)}
        done = t.record(argv, options=(), env={**cargo_env, **env, **clean}, cwd=where)
        report = t.report(done.trace)
        compiled = {row["name"] for row in report["build"]["crates"]}
        served = [p for p in report["processes"] if p["parent_pid"] == server.pid and p["crate"]]
        # The server asks one compiler for the sources of a crate, and has another one compile it.
        crates = {asked: {p["crate"] for p in served if ("--out-dir" not in p["command"]) == asked}
                  for asked in (True, False)}
        whole = compiled == set(workspace.COMPILES) and all(
            of == {"base", "both", "made"} for of in crates.values())
        if whole:
            break
        # On a busy machine one may be late, or have ended before it was compared with its client.
        assert b"ended before" in done.stderr or report["losses"]["compilers"] or any(
            p["attached_late"] for p in report["processes"]), (compiled, crates, done.stderr)
    assert whole, (compiled, crates, done.stderr)
    return "%d compilers, %d of them the server's" % (len(report["processes"]), len(served))


def test_the_server_by_its_number(t):
    """With --pid, all that it compiles is recorded, for whatever client."""
    t.need_capture()
    server, env = start_server(t)
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--pid", str(server.pid))
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    argv, cargo_env = workspace.cargo(t, "build", "-q")
    client = t.plain(argv, env={**cargo_env, **env}, cwd=workspace.make(t))
    assert client.status == 0, client
    profiler.send_signal(signal.SIGINT)
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    lab.check_end(profiler.returncode, err.decode())
    report = t.report(t.path("trace.qpt"))
    compiled = {p["crate"] for p in report["processes"] if "--out-dir" in p["command"]}
    assert compiled == {"base", "both", "made"}, compiled
    assert {p["parent_pid"] for p in report["processes"]} == {server.pid}, report["processes"]


def test_compilers_of_another_client_are_named(t):
    t.need_capture()
    _, env = start_server(t)
    argv, cargo_env = workspace.cargo(t, "build", "-q")
    script = "%s && touch ../begun && while test ! -e ../over; do sleep 0.1; done" % shlex.join(
        [*argv, "-p", "made"])
    profiler = t.start_qprof("-o", t.path("trace.qpt"), "--", "sh", "-c", script,
                             env={**cargo_env, **env}, cwd=workspace.make(t))
    lab.wait_for("the command", lambda: os.path.exists(t.path("begun")))
    other = t.start_plain([*argv, "-p", "base"], cwd=workspace.make(t, "other"), env={
        **cargo_env, **env, "CARGO_TARGET_DIR": t.path("other-target")})
    _, said = other.communicate(timeout=lab.TIMEOUT)
    assert other.returncode == 0, said
    t.write("over", "")
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err
    crates = {p["crate"] for p in t.report(t.path("trace.qpt"))["processes"]}
    assert "made" in crates and "base" not in crates, crates
    line, = (line for line in err.decode().splitlines() if "not recorded, as nothing recorded started" in line)
    # Of many, it names some.
    assert "started by sccache, process " in line, line
