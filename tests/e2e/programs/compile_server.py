#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A stand-in for a compile server such as sccache's, without a cache.

compile_server.py --serve SOCKET        runs the compilers of its clients
SERVER=SOCKET compile_server.py RUSTC ARGUMENT...   as RUSTC_WRAPPER: has the server run it, and waits
"""

import json
import os
import socket
import subprocess
import sys
import threading


def serve_one(connection):
    with connection, connection.makefile("rw") as f:
        request = json.loads(f.readline())
        done = subprocess.run(request["argv"], cwd=request["cwd"], env=request["env"],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        json.dump([done.returncode, done.stdout, done.stderr], f)


def serve(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    os.chmod(path, 0o777)
    server.listen(64)
    while True:
        threading.Thread(target=serve_one, args=(server.accept()[0],)).start()


def ask(path, argv):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        with s.makefile("rw") as f:
            json.dump({"argv": argv, "cwd": os.getcwd(), "env": dict(os.environ)}, f)
            f.write("\n")
            f.flush()
            status, out, err = json.load(f)
    sys.stdout.write(out)
    sys.stderr.write(err)
    return status


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    sys.exit(ask(os.environ["SERVER"], sys.argv[1:]))
