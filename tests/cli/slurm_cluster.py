"""A real Slurm on one machine: munged, slurmctld and a slurmd for each of several nodes, with a
configuration, ports and folders of their own. Nothing of a Slurm that the machine may have is
touched. Two GPUs of each node are character devices that every machine has: Slurm wants a file for
each, and hands them out without opening them."""

from __future__ import annotations

import contextlib
import ctypes
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

NODES = {"one": ("/dev/null", "/dev/zero"), "two": ("/dev/full", "/dev/random")}
_DAEMONS = ("munged", "slurmctld", "slurmd")
_FOLDERS = ("/usr/sbin", "/usr/local/sbin")  # not on everybody's PATH
_SECONDS = 60
_SET_CHILD_SUBREAPER = 36  # prctl(2)


def _program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), *_FOLDERS)))


def why_not() -> str:
    """Why no Slurm can be started here; empty when one can."""
    missing = [name for name in (*_DAEMONS, "sbatch", "srun") if not _program(name)]
    if missing:
        return (
            f"needs a Slurm to start, without {', '.join(missing)} (Debian: apt-get install "
            "slurmctld slurmd slurm-client munge)"
        )
    if not all(Path(gpu).is_char_device() for gpus in NODES.values() for gpu in gpus):
        return "needs /dev as on Linux"
    return ""


def wait_until(condition: Callable[[], bool], what: str, seconds: float = _SECONDS) -> None:
    """Raises TimeoutError naming ``what`` did not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.2)


def _free_ports(count: int) -> list[int]:
    """Ports that nothing listens on; all at once, so that they differ."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _descendants(process: int) -> list[int]:
    """Its children, theirs and so on."""
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *_descendants(int(child))]
    return found


def _power_off(process: subprocess.Popen) -> None:
    """Ends a daemon's guard and all below it as a power failure does: none of them may see another
    one end, and report it. New ones may appear until all stand still."""
    stopped: list[int] = []
    while fresh := [one for one in _descendants(process.pid) if one not in stopped]:
        for one in fresh:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGSTOP)
        stopped += fresh
    # Children first: what stands still is woken when the parent of its process group ends.
    for one in reversed(stopped):
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    process.wait(timeout=_SECONDS)


def _guard(command: list[str]) -> None:
    """Runs a daemon, and is the parent of all that it leaves behind until the last has ended: the
    steps of a slurmd leave it, and could otherwise not be told from another node's."""
    ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.posix_spawn(command[0], command, os.environ)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


class Cluster:
    """Started when entered, with all that it left behind gone when left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH"))},
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": os.pathsep.join((os.environ["PATH"], *_FOLDERS)),
        }
        self._guards: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> Cluster:
        try:
            self._configure()
            munge = [f"--{name}={self.folder / f'munge.{name}'}" for name in ("socket", "pid-file")]
            munge += [f"--{n}-file={self.folder / f'munge.{n}'}" for n in ("key", "log", "seed")]
            self._start("munged", ["munged", "--foreground", "--force", *munge])
            wait_until((self.folder / "munge.socket").exists, "munged's socket")
            self._start("slurmctld", ["slurmctld", "-D", "-c"])
            for node in NODES:
                self._start(node, ["slurmd", "-D", "-N", node])
            wait_until(lambda: self.ask("sinfo", "-hN", "-o", "%T") == ["idle"] * 2, "idle nodes")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in reversed(list(self._guards)):
            _power_off(self._guards.pop(name))

    def kill_node(self, node: str) -> None:
        """Its slurmd and all that runs there, at once."""
        _power_off(self._guards.pop(node))

    def start_node(self, node: str) -> None:
        """One that was killed, as after a reboot."""
        self._start(node, ["slurmd", "-D", "-N", node])

    def run(
        self, *command: str | Path, status: int | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """A command that finds this Slurm. Fails where it ends with another status."""
        done = subprocess.run(
            list(map(str, command)), env=self.environment, cwd=cwd, capture_output=True, text=True,
            timeout=_SECONDS, check=False,
        )  # fmt: skip
        assert status in (None, done.returncode), done.stdout + done.stderr
        return done

    def ask(self, *command: str) -> list[str]:
        """What it prints, by line; nothing where it fails."""
        return self.run(*command).stdout.split("\n")[:-1]

    def logs(self) -> str:
        """The ends of the daemons' logs, for a test that failed."""
        ends = [
            f"--- {path.name}\n" + "\n".join(path.read_text(errors="replace").split("\n")[-30:])
            for path in sorted(self.folder.glob("*.log"))
        ]
        return "\n".join(ends)

    def _start(self, name: str, command: list[str]) -> None:
        command = [_program(command[0]) or command[0], *command[1:]]
        with (self.folder / f"{name}.log").open("ab") as log:
            self._guards[name] = subprocess.Popen(
                [sys.executable, __file__, *command],
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _configure(self) -> None:
        folder, host, user = self.folder, socket.gethostname().split(".")[0], getpass.getuser()
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (folder / name).mkdir(parents=True)
        key = folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        ports = _free_ports(1 + len(NODES))
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 Gres=gpu:2"
            for node, port in zip(NODES, ports[1:], strict=True)
        )
        # cred_expire is also how long a task that was queued again waits before it may start, and
        # cannot be less than 5 s. SlurmdTimeout: after which a node that does not answer is down.
        (folder / "slurm.conf").write_text(f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdParameters=config_overrides
SlurmdTimeout=3
MessageTimeout=3
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ReturnToService=2
KillWait=5
GresTypes=gpu
{nodes}
PartitionName=gpu Nodes=ALL Default=YES State=UP MaxTime=10
""")
        (folder / "gres.conf").write_text(
            "".join(
                f"NodeName={node} Name=gpu File={gpu} Flags=nvidia_gpu_env\n"
                for node, gpus in NODES.items()
                for gpu in gpus
            )
        )


if __name__ == "__main__":
    _guard(sys.argv[1:])
