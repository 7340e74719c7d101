"""Attempts to escape from the sandbox, or to leave something behind. Each is a few lines of Python.

A body runs with `P`, the paths and process IDs of the surroundings, and calls `escaped` if it got something
forbidden. What it leaves behind is counted from outside, after the run.
"""

from dataclasses import dataclass

PRELUDE = """
import ctypes, ctypes.util, glob, json, os, resource, signal, socket, subprocess, sys, time
P = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
def escaped(what=""):
    print("ESCAPED", what, flush=True)
def proof():
    with open(P["proof"], "a") as file:
        file.write(P["name"] + "\\n")
def spawn_forever(*, session=True):
    if os.fork() == 0:
        if session:
            os.setsid()
        if os.fork() == 0:
            for number in range(3):
                os.close(number)
            os.execvp("sleep", ["sleep", P["marker"]])
        os._exit(0)
    os.wait()
try:
    proof()
except OSError:
    pass
try:
    exec(sys.argv[2])
except (OSError, MemoryError, ValueError) as error:
    print("held:", type(error).__name__, error)
"""


@dataclass(frozen=True)
class Attempt:
    """What is tried; `seconds` is the time limit that the command gets."""

    name: str
    body: str
    seconds: int = 10


def write(path: str) -> str:
    return f'open({path}, "a").write("x"); escaped()'


def read(path: str) -> str:
    return f"escaped(open({path}, 'rb').read(20))"


def connect(family: str, address: str, kind: str = "SOCK_STREAM") -> str:
    return (
        f"s = socket.socket(socket.{family}, socket.{kind}); s.settimeout(2); "
        f"s.connect({address}); s.send(b'hello'); escaped()"
    )


def fill(folder: str) -> str:
    return (
        f"for n in range(40):\n    with open(f\"{folder}/{{P['marker']}}{{n}}\", 'wb') as file:\n"
        "        file.write(bytes(50 << 20))\nescaped()"
    )


WRITES = [
    Attempt("write application code", write('P["app"] + "/refinement/providers/base.py"')),
    Attempt("add a module to the application", write('P["app"] + "/sitecustomize.py"')),
    Attempt("write the virtual environment", write('P["venv"] + "/lib/evil.pth"')),
    Attempt("write the data directory", write('P["data"] + "/planted"')),
    Attempt("write the database", write('P["database"]')),
    Attempt("write /etc", write('"/etc/wiggum-escape"')),
    Attempt("write /etc/passwd", write('"/etc/passwd"')),
    Attempt("write the home directory", write('P["home"] + "/.profile"')),
    Attempt("add an SSH key", write('P["home"] + "/.ssh/authorized_keys"')),
    Attempt("write /usr/local/bin", write('"/usr/local/bin/wiggum-escape"')),
    Attempt("write the root directory", write('"/wiggum-escape"')),
    Attempt("delete application code", 'os.unlink(P["app"] + "/refinement/__init__.py"); escaped()'),
]
READS = [
    Attempt("read the secret key file", read('P["key"]')),
    Attempt("read the database", read('P["database"]')),
    Attempt("read an SSH key", read('P["home"] + "/.ssh/id_ed25519"')),
    Attempt("read the virtual environment", read('P["venv"] + "/pyvenv.cfg"')),
    Attempt("read application code", read('P["app"] + "/refinement/providers/base.py"')),
    Attempt("read /etc/shadow", read('"/etc/shadow"')),
    Attempt("read a file of somebody else in /tmp", read('P["tmp_file"]')),
    Attempt("list /home, /root, /run and /var", "escaped(sum(map(os.listdir, ('/home', '/root')), []))"),
    Attempt("list /run", 'escaped(os.listdir("/run"))'),
    Attempt("hard link to the key file", 'os.link(P["key"], "linked"); escaped(open("linked").read())'),
    Attempt("symbolic link to the key file", 'os.symlink(P["key"], "l"); escaped(open("l").read())'),
    Attempt(
        "find secrets in its own environment",
        "[escaped(n) for n, v in os.environ.items() if 'canary' in v or n.startswith('WIGGUM')]",
    ),
    Attempt("environment of the worker", read("f\"/proc/{P['worker']}/environ\"")),
    Attempt(
        "environment of every process",
        "for p in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try: data = open(p, 'rb').read()\n"
        "    except OSError: continue\n"
        "    if b'canary' in data: escaped(p)",
    ),
    Attempt("open files of the worker", "escaped(os.listdir(f\"/proc/{P['worker']}/fd\"))"),
    Attempt(
        "inherited descriptors",
        "for n in os.listdir('/proc/self/fd'):\n"
        "    if int(n) > 2 and os.path.exists('/proc/self/fd/' + n) and "
        "not os.readlink('/proc/self/fd/' + n).startswith('/proc/'): escaped(n)",
    ),
    Attempt("the root of process 1", read('"/proc/1/root" + P["key"]')),
    Attempt("the root of every process", "[escaped(p) for p in glob.glob('/proc/*/root' + P['key'])]"),
    Attempt(
        "the command line of other processes",
        "[escaped(p) for p in glob.glob('/proc/[0-9]*/cmdline') "
        "if open(p, 'rb').read().startswith(b'sleep\\0' + P['sibling_marker'].encode())]",
    ),
    Attempt("memory of the worker", "open(f\"/proc/{P['worker']}/mem\", 'rb'); escaped()"),
    Attempt(
        "open by file handle",
        "b = ctypes.create_string_buffer(128); ctypes.memmove(b, (128 - 8).to_bytes(4, 'little'), 4)\n"
        "m = ctypes.c_int()\n"
        "libc.name_to_handle_at(-100, b'/usr', b, ctypes.byref(m), 0)\n"
        "d = os.open('/usr', os.O_RDONLY)\n"
        "if libc.open_by_handle_at(d, b, 0) >= 0: escaped()",
    ),
]
NETWORK = [
    Attempt("TCP on loopback", connect("AF_INET", '("127.0.0.1", P["tcp"])')),
    Attempt("TCP on IPv6 loopback", connect("AF_INET6", '("::1", P["tcp6"])')),
    Attempt(
        "UDP on loopback",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.1', P['udp']))\n"
        "s.send(b'1'); time.sleep(0.2); s.send(b'refused if nobody took the first'); escaped()",
    ),
    Attempt("PostgreSQL", connect("AF_INET", '("127.0.0.1", 5432)')),
    Attempt("Redis", connect("AF_INET", '("127.0.0.1", 6379)')),
    Attempt("a Unix socket in /tmp", connect("AF_UNIX", 'P["unix"]')),
    Attempt("a Unix socket in /run", connect("AF_UNIX", '"/run/postgresql/.s.PGSQL.5432"')),
    Attempt("an abstract Unix socket", connect("AF_UNIX", '"\\0" + P["abstract"]')),
    Attempt(
        "packets of the machine's network",
        "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)\n"
        "names = [n for _, n in socket.if_nameindex() if n != 'lo']\n"
        "names and escaped(names)",
    ),
    Attempt("network devices", "n = [n for _, n in socket.if_nameindex() if n != 'lo']; n and escaped(n)"),
]
PROCESSES = [
    Attempt("signal the worker", 'os.kill(P["worker"], 0); escaped()'),
    Attempt("signal a process of the same account", 'os.kill(P["sibling"], signal.SIGTERM); escaped()'),
    Attempt("trace the worker", "libc.ptrace(16, P['worker'], 0, 0) == 0 and escaped()"),
    Attempt(
        "join the worker's namespaces",
        "d = os.open(f\"/proc/{P['worker']}/ns/mnt\", os.O_RDONLY); libc.setns(d, 0) == 0 and escaped()",
    ),
    Attempt("a double-forked daemon", "spawn_forever()"),
    Attempt("a daemon in the same session", "spawn_forever(session=False)"),
    Attempt("a daemon started with nohup", "os.system(f\"nohup sleep {P['marker']} >/dev/null 2>&1 &\")"),
    Attempt("a daemon started with setsid", "os.system(f\"setsid sleep {P['marker']} >/dev/null 2>&1 &\")"),
    Attempt(
        "a daemon that ignores signals",
        "for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\nspawn_forever()",
    ),
    Attempt("many daemons", "for _ in range(30): spawn_forever()"),
    Attempt("a daemon below a subreaper", "libc.prctl(36, 1, 0, 0, 0); spawn_forever()"),
    Attempt("a daemon and no end", "spawn_forever(); time.sleep(600)", 2),
    Attempt(
        "survive the parent's death", "libc.prctl(1, 0, 0, 0, 0); spawn_forever(); os.kill(os.getpid(), 9)"
    ),
]
LEFTOVERS = [
    Attempt("a file in /tmp", 'open("/tmp/" + P["marker"], "w").write("x" * 1000)'),
    Attempt("a file in /var/tmp", 'open("/var/tmp/" + P["marker"], "w").write("x" * 1000)'),
    Attempt("a file in /dev/shm", 'open("/dev/shm/" + P["marker"], "w").write("x" * 1000)'),
    Attempt("a file in its folder", 'open(P["marker"], "w").write("x" * 1000)'),
    Attempt("a named pipe in its folder", 'os.mkfifo(P["marker"])'),
    Attempt("a deep folder", "for _ in range(3000): os.mkdir('d'); os.chdir('d')"),
    Attempt("a folder without permissions", "os.mkdir('d'); open('d/x', 'w'); os.chmod('d', 0)"),
    Attempt("a link that clean-up could follow", 'os.symlink(P["victim"], "victim")'),
    Attempt("its folder replaced by a link", 'd = os.getcwd(); os.rmdir(d); os.symlink(P["victim"], d)'),
    Attempt("SysV shared memory", "libc.shmget(P['ipc_key'], 4096, 0o1666)"),
    Attempt("SysV semaphores", "libc.semget(P['ipc_key'], 1, 0o1666)"),
    Attempt("a SysV message queue", "libc.msgget(P['ipc_key'], 0o1666)"),
    Attempt(
        "a POSIX message queue",
        "ctypes.CDLL('librt.so.1').mq_open(f\"/{P['marker']}\".encode(), 0o102, 0o666, None)",
    ),
    Attempt("a key in the session keyring", "libc.syscall(248, b'user', P['marker'].encode(), b'x', 1, -3)"),
    Attempt("a key in the user keyring", "libc.syscall(248, b'user', P['marker'].encode(), b'x', 1, -4)"),
    Attempt(
        "a core file",
        "resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)); escaped(); os.kill(os.getpid(), signal.SIGSEGV)",
    ),
]
BOMBS = [
    Attempt("fork bomb", "while True:\n    try: os.fork()\n    except OSError: pass", 5),
    Attempt(
        "thread bomb",
        "import threading\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()",
        5,
    ),
    Attempt("memory in one process", "b = bytearray(4 << 30); escaped()"),
    Attempt(
        "memory spread over processes",
        "for _ in range(40):\n    if os.fork() == 0:\n        b = bytearray(100 << 20); time.sleep(60)\n"
        "time.sleep(4); escaped()",
    ),
    Attempt(
        "memory in shared mappings",
        "import mmap\nm = mmap.mmap(-1, 4 << 30)\n"
        "for i in range(4096): m[i << 20:(i + 1) << 20] = bytes(1 << 20)\nescaped()",
    ),
    Attempt(
        "memory in memfd files",
        "d = os.memfd_create('x')\nfor _ in range(4096): os.write(d, bytes(1 << 20))\nescaped()",
    ),
    Attempt(
        "one big file", "f = open('big', 'wb')\nfor _ in range(2000): f.write(bytes(1 << 20))\nescaped()"
    ),
    Attempt(
        "many files",
        "for n in range(40):\n    with open(f'big{n}', 'wb') as f: f.write(bytes(50 << 20))\nescaped()",
    ),
    Attempt(
        "a full /tmp",
        fill("/tmp"),
    ),
    Attempt(
        "a full /dev/shm",
        fill("/dev/shm"),
    ),
    Attempt("endless output", "while True: os.write(1, b'y' * 65536)"),
    Attempt("endless run", "time.sleep(600); escaped()", 1),
    Attempt(
        "endless run that ignores signals",
        "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(600)",
        1,
    ),
    Attempt("endless run with closed outputs", "os.close(1); os.close(2); time.sleep(600)", 1),
]
KERNEL = [
    Attempt("mount a file system", "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0 and escaped()"),
    Attempt("make /usr writable", "libc.mount(None, b'/usr', None, 32 | 4096, None) == 0 and escaped()"),
    Attempt("unmount /proc", "libc.umount2(b'/proc', 2) == 0 and escaped()"),
    Attempt("a user namespace of its own", "libc.unshare(0x10000000) == 0 and escaped()"),
    Attempt("a network namespace of its own", "libc.unshare(0x40000000) == 0 and escaped()"),
    Attempt("chroot", "libc.chroot(b'/tmp') == 0 and escaped()"),
    Attempt("make a device", "os.mknod('disk', 0o60666, os.makedev(8, 0)); escaped()"),
    Attempt("/dev/mem", read('"/dev/mem"')),
    Attempt("disks", "[escaped(open(d, 'rb')) for d in glob.glob('/dev/[svx]*d[a-z]')]"),
    Attempt("the kernel's log", "open('/dev/kmsg', 'rb'); escaped()"),
    Attempt("the terminal", "d = os.open('/dev/tty', os.O_RDWR); escaped()"),
    Attempt("/sys", write('"/sys/kernel/mm/ksm/run"')),
    Attempt("/proc/sys", write('"/proc/sys/kernel/core_pattern"')),
    Attempt("/proc/sysrq-trigger", "os.close(os.open('/proc/sysrq-trigger', os.O_WRONLY)); escaped()"),
    Attempt("a control group of its own", "os.mkdir('/sys/fs/cgroup/memory/wiggum-escape'); escaped()"),
    Attempt("the host's name", "socket.sethostname('wiggum-escape'); escaped()"),
    Attempt("the clock", "libc.clock_settime(0, (ctypes.c_long * 2)(0, 0)) == 0 and escaped()"),
    Attempt("become root", "os.setresuid(0, 0, 0); escaped()"),
    Attempt(
        "setuid programs",
        "'NoNewPrivs:\\t1' in open('/proc/self/status').read() or escaped()\n"
        "open('s', 'w'); os.chmod('s', 0o4755)",
    ),
    Attempt("more processes", "resource.setrlimit(resource.RLIMIT_NPROC, (-1, -1)); escaped()"),
]
ATTEMPTS = [*WRITES, *READS, *NETWORK, *PROCESSES, *LEFTOVERS, *BOMBS, *KERNEL]
