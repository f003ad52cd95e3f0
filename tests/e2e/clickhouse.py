# SPDX-License-Identifier: Apache-2.0 OR MIT
"""ClickHouse servers and a ZooKeeper on free ports of the loopback, each with its own configuration
and directory. They are Debian's, unpacked once and never installed, and end with the test."""

import contextlib
import functools
import glob
import os
import shutil
import socket
import subprocess
import urllib.error
import urllib.request

import lab

DIRECTORY = os.environ.get("CLICKHOUSE_PACKAGES") or os.path.join(
    lab.invoker().pw_dir, ".cache/qprof-bpf-clickhouse")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clickhouse-packages.sh")
CLUSTER = "the-fleet"  # a name that has to be quoted

CONFIG = """<?xml version="1.0"?>
<yandex>
    <logger><level>warning</level><log>{dir}/log</log><errorlog>{dir}/error-log</errorlog></logger>
    <listen_host>127.0.0.1</listen_host>
    <http_port>{http}</http_port>
    <tcp_port>{tcp}</tcp_port>
    <interserver_http_port>{interserver}</interserver_http_port>
    <interserver_http_host>127.0.0.1</interserver_http_host>
    <path>{dir}/data/</path>
    <tmp_path>{dir}/tmp/</tmp_path>
    <user_files_path>{dir}/files/</user_files_path>
    <users_config>users.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
    <mark_cache_size>67108864</mark_cache_size>
    <max_concurrent_queries>100</max_concurrent_queries>
    {more}
</yandex>
"""

USERS = """<?xml version="1.0"?>
<yandex>
    <profiles><default><max_memory_usage>2000000000</max_memory_usage>
            <distributed_ddl_task_timeout>60</distributed_ddl_task_timeout></default></profiles>
    <quotas><default></default></quotas>
    <users>
        <default><password></password><networks><ip>::/0</ip></networks>
            <profile>default</profile><quota>default</quota></default>
        <pusher><password>a secret</password><networks><ip>::/0</ip></networks>
            <profile>default</profile><quota>default</quota></pusher>
    </users>
</yandex>
"""

REPLICAS = """<zookeeper><node><host>127.0.0.1</host><port>{zookeeper}</port></node>
        <session_timeout_ms>20000</session_timeout_ms></zookeeper>
    <macros><shard>1</shard><replica>{name}</replica></macros>
    <distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
    <remote_servers><{cluster}><shard><internal_replication>true</internal_replication>
        {replicas}</shard></{cluster}></remote_servers>"""


def free_ports(n):
    """Numbers that nothing listens on now."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(n)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


@functools.lru_cache
def root():
    """Where the packages are unpacked."""
    there = sorted(glob.glob(os.path.join(DIRECTORY, "clickhouse-*")))
    if there:
        return there[-1]
    done = subprocess.run([SCRIPT, DIRECTORY], capture_output=True, text=True)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["unknown"])[-1]
        raise lab.NotDownloaded("no ClickHouse of Debian: %s" % why)
    return done.stdout.strip()


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


class Server:
    """One ClickHouse."""

    def __init__(self, t, name, ports, more=""):
        self.t, self.name, self.process = t, name, None
        self.http, self.tcp, self.interserver = ports
        self.dir = t.path("clickhouse-" + name)
        for part in ("data", "tmp", "files"):
            os.makedirs(os.path.join(self.dir, part))
        for file, text in (("config.xml", CONFIG), ("users.xml", USERS)):
            with open(os.path.join(self.dir, file), "w") as f:
                f.write(text.format(dir=self.dir, http=self.http, tcp=self.tcp,
                                    interserver=self.interserver, more=more))

    @property
    def address(self):
        return "http://127.0.0.1:%d" % self.http

    def start(self):
        libraries = os.path.join(root(), "usr/lib/x86_64-linux-gnu")
        with open(os.path.join(self.dir, "said"), "ab") as said:
            self.process = self.t.start(
                [os.path.join(root(), "usr/sbin/clickhouse-server"),
                 "--config-file=" + os.path.join(self.dir, "config.xml")],
                cwd=self.dir, stdout=said, stderr=said,
                env={**os.environ, "LD_LIBRARY_PATH": libraries, "TZ": "UTC"})
        return self

    def ready(self):
        def asked():
            if self.process.poll() is not None:
                raise AssertionError("ClickHouse ended: %s" % self.said())
            return answers(self.http) and self.ask("SELECT 1") == "1\n"

        lab.wait_for("ClickHouse", asked)
        return self

    def said(self):
        return "".join(lab.read_text(path)[-2000:] for path in
                       glob.glob(os.path.join(self.dir, "*log")) + [os.path.join(self.dir, "said")])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, sql, **settings):
        """The answer to a query, or an AssertionError with the server's words."""
        parameters = "&".join("%s=%s" % item for item in settings.items())
        try:
            with urllib.request.urlopen(self.address + "/?" + parameters, sql.encode(), lab.TIMEOUT) as f:
                return f.read().decode()
        except urllib.error.HTTPError as e:
            raise AssertionError("%s: %s" % (sql, e.read().decode())) from None


def one(t):
    """A server, which answers."""
    root()
    return Server(t, "one", free_ports(3)).start().ready()


def start_zookeeper(t, port, which):
    where = t.path("zookeeper" + which)
    os.makedirs(where)
    config = os.path.join(where, "zoo.cfg")
    with open(config, "w") as f:
        # Sessions of seconds would end on a busy machine, and some servers never begin another.
        f.write("tickTime=500\nmaxSessionTimeout=20000\ndataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\n"
                "admin.enableServer=false\nmaxClientCnxns=0\n" % (where, port))
    jars = os.path.join(root(), "usr/share/java/*")
    java = shutil.which("java") or glob.glob(os.path.join(root(), "usr/lib/jvm/*/bin/java"))[0]
    with open(os.path.join(where, "said"), "wb") as said:
        return t.start([java, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                        "-Dzookeeper.forceSync=no", "-cp", jars,
                        "org.apache.zookeeper.server.ZooKeeperServerMain", config],
                       cwd=where, stdout=said, stderr=said)


def two(t, which=""):
    """Two servers, the replicas of one shard of CLUSTER, and their ZooKeeper; all answer."""
    root()
    zookeeper, *ports = free_ports(7)
    servers = {"a" + which: ports[:3], "b" + which: ports[3:]}
    replicas = "".join("<replica><host>127.0.0.1</host><port>%d</port></replica>" % tcp
                       for _, tcp, _ in servers.values())
    start_zookeeper(t, zookeeper, which)
    lab.wait_for("ZooKeeper", lambda: answers(zookeeper))
    started = [Server(t, name, held, REPLICAS.format(
        zookeeper=zookeeper, name=name, cluster=CLUSTER, replicas=replicas)).start()
        for name, held in servers.items()]
    return [server.ready() for server in started]
