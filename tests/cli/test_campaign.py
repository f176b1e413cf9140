"""campaign/ on a real Slurm: two nodes with two GPUs each, all on this machine (slurm_cluster.py).
What is measured is amasia-stub's; everything around it is as on a cluster."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import slurm_cluster
from programs import program, read_result, runner
from slurm_cluster import NODES, Cluster, wait_until

from tests.process import ROOT, executable, run

SUBMIT = ROOT / "campaign/submit"
MERGE = ROOT / "campaign/merge"
SIZES = [1000 * i for i in range(1, 9)]


def command(sizes: list[int]) -> list[str]:
    rounds = ["--max-rounds", "12", "--min-rounds", "12"]
    return ["run", "stub", "--roles", "iso", *rounds, *(f"--size=n={n}" for n in sizes)]


COMMAND = command(SIZES)
NOISE = {"noise": 0.001}
# A group takes a second: long enough to be interrupted in the middle of.
SCRIPT = {"rows": {"stub/baseline": {**NOISE, "sleep_s": 0.04}, "stub/tma": {**NOISE, "ms": 0.5}}}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if why := slurm_cluster.why_not():
        pytest.skip(why)
    with Cluster(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


class Campaign:
    """One that is submitted to the cluster, in a folder of its own."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.log = folder.parent / "opened"
        # The GPU is the one that Slurm gave: its node, and its number there.
        script = json.dumps({**SCRIPT, "log": str(self.log), "device": {"uuid": "UUID"}})
        text = f"""script='{script}'
export AMASIA_STUB=${{script/UUID/$SLURMD_NODENAME-$CUDA_VISIBLE_DEVICES}}
exec {program("amasia-stub")} "$@"
"""
        self.amasia = executable(folder.parent / "amasia", text, "/bin/bash")

    def submit(self, *options: str, sizes: list[int] = SIZES) -> str:
        """Returns the number of the array job."""
        self.cluster.run(
            *(SUBMIT, "--program", self.amasia, "--out", self.folder, *options, *command(sizes)),
            cwd=self.folder.parent, status=0,
        )  # fmt: skip
        return (self.folder / "jobs").read_text().split()[0]

    def finished(self, part: str) -> list[int]:
        """The sizes of the groups that the journal of a part holds."""
        journal = self.folder / f"{part}.json.gz.journal"
        lines = journal.read_text().split("\n")[:-1] if journal.exists() else []
        found = map(json.loads, lines)
        return [line["group"]["key"]["size"]["n"] for line in found if "group" in line]

    def gpus(self) -> dict[str, str]:
        """Which part is measured on which GPU."""
        first = {
            path.name.split(".")[0]: path.read_text().split("\n")[0]
            for path in self.folder.glob("*.json.gz.journal")
        }
        return {
            json.loads(line)["provenance"]["device"]["uuid_hash"]: part
            for part, line in first.items()
            if line.endswith("}")
        }

    def wait(self) -> None:
        """Until nothing of it is in the queue."""
        jobs = ",".join((self.folder / "jobs").read_text().split())
        queue = ("squeue", "-h", "-j", jobs, "-o", "%i")
        try:
            wait_until(lambda: not self.cluster.ask(*queue), "the end of the campaign", 120)
        except TimeoutError:
            pytest.fail(self.logs() + self.cluster.logs())

    def logs(self) -> str:
        return "\n".join(f"--- {p.name}\n{p.read_text()}" for p in self.folder.glob("log/*"))

    def result(self) -> dict:
        path = self.folder / "result.json.gz"
        assert path.exists(), self.logs()
        return read_result(path)

    def opened(self) -> list[int]:
        """The sizes of the groups that were begun, in order."""
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return [int(words[2].removeprefix("n=")) for words in lines if words[0] == "open"]


@pytest.fixture
def campaign(cluster: Cluster, tmp_path: Path) -> Campaign:
    return Campaign(cluster, tmp_path / "campaign")


def medians(groups: list[dict]) -> dict[tuple, float]:
    """Of every row, by case."""
    return {
        (group["key"]["size"]["n"], row["variant"], row.get("repeat", 0)): row["time_ms"]["median"]
        for group in groups
        for row in group["rows"]
    }


def undisturbed(folder: Path) -> dict[tuple, float]:
    """The same on one GPU, without Slurm and without the pauses, which no time shows."""
    quick = {"rows": {**SCRIPT["rows"], "stub/baseline": NOISE}}
    out = folder / "undisturbed.json"
    runner("amasia-stub")(*COMMAND, "--out", out, status=0, AMASIA_STUB=json.dumps(quick))
    return medians(read_result(out)["groups"])


def test_sessions_on_every_gpu_and_one_that_has_to_make_way(campaign: Campaign) -> None:
    """Preemption with a grace period and the end of a time limit look like this: steps get SIGTERM,
    the job still runs. It goes back to the queue by itself, and on from where it was."""
    sizes = SIZES[:5]
    array = campaign.submit("--gpus", "4", "--as", "sessions", sizes=sizes)
    # The task on the GPU that Slurm gives first: it will get the same again, whatever else is free.
    wait_until(lambda: "one-0" in campaign.gpus(), "a task on the first GPU")
    part = campaign.gpus()["one-0"]
    wait_until(lambda: len(campaign.finished(part)) >= 2, "two groups of a session")
    campaign.cluster.run("scancel", "--signal=TERM", f"{array}_{part.removeprefix('session-')}")
    campaign.wait()

    result = campaign.result()
    sessions = result["provenance"]["sessions"]
    gpus = {f"{node}-{gpu}" for node, of in NODES.items() for gpu in range(len(of))}
    assert {session["uuid_hash"] for session in sessions} == gpus
    groups = [g for s in range(len(sessions)) for g in result["groups"] if g["session"] == s]
    assert len(groups) == 4 * len(sizes)
    # All but the group that was interrupted were begun once by each.
    opened = campaign.opened()
    assert {n for n in sizes if opened.count(n) == 4} == {*sizes} - {max(sizes, key=opened.count)}
    log = (campaign.folder / f"log/{part}.log").read_text()
    assert "attempt 1" in log and "back to the queue" in log and "attempt 2" in log
    assert "4 runs on 4 GPUs" in (campaign.folder / "summary.md").read_text()
    assert not [*campaign.folder.glob("*.idle"), *campaign.folder.glob("*.2.json.gz")]


def test_what_is_cancelled_stays_so_and_the_same_line_continues_it(campaign: Campaign) -> None:
    array = campaign.submit("--gpus", "2")
    wait_until(lambda: campaign.finished("shard-1"), "a group of the first shard")
    same = (SUBMIT, "--program", campaign.amasia, "--out", campaign.folder, "--gpus", "2", *COMMAND)
    assert "are in the queue" in campaign.cluster.run(*same, status=2).stderr
    campaign.cluster.run("scancel", array)
    campaign.wait()
    assert "back to the queue" not in campaign.logs()
    merged = campaign.cluster.run(MERGE, campaign.folder, status=1)
    assert "shard 1 of 2 is not complete" in merged.stderr
    kept = {group["key"]["size"]["n"] for group in campaign.result()["groups"]}
    assert 0 < len(kept) < len(SIZES)

    campaign.log.unlink()
    campaign.submit("--gpus", "2")
    campaign.wait()
    assert set(campaign.opened()) == set(SIZES) - kept
    assert medians(campaign.result()["groups"]) == undisturbed(campaign.folder)
    campaign.cluster.run(MERGE, campaign.folder, status=0)


def test_the_parts_of_a_node_that_dies_are_measured_elsewhere(campaign: Campaign) -> None:
    """Slurm finds out and puts its tasks back into the queue. They go on on the other node, hence
    on other GPUs: what the lost ones had measured, they measure again."""
    array = campaign.submit("--gpus", "4")
    where = ("squeue", "-h", "-r", "-t", "R", "-j", array, "-o", "%K %N")
    wait_until(lambda: len(campaign.cluster.ask(*where)) == 4, "four tasks that run")
    tasks = [line.split() for line in campaign.cluster.ask(*where)]
    lost = [f"shard-{task}" for task, node in tasks if node == "two"]
    assert len(lost) == 2
    wait_until(lambda: any(campaign.finished(part) for part in lost), "a group on the second node")
    campaign.cluster.kill_node("two")
    kept = {n for part in lost for n in campaign.finished(part)}
    assert 0 < len(kept) < 4
    begun = time.monotonic()
    campaign.wait()
    print(f"over {time.monotonic() - begun:.1f} s after the node died")
    campaign.cluster.start_node("two")

    result = campaign.result()
    sizes = [group["key"]["size"]["n"] for group in result["groups"]]
    assert sorted(sizes) == SIZES, campaign.logs()
    assert medians(result["groups"]) == undisturbed(campaign.folder)
    # A part is of one GPU: what was finished on the dead node is not in the result.
    assert all(campaign.opened().count(n) == 2 for n in kept)
    elsewhere = [w for g in result["groups"] for w in g["warnings"] if "another Stub 1" in w]
    assert elsewhere and not any("two-" in warning for warning in elsewhere)
    campaign.cluster.run(MERGE, campaign.folder, status=0)


# What is refused before anything is submitted.


@pytest.fixture
def no_cluster(tmp_path: Path) -> Path:
    """A folder with an sbatch that only says how it was called."""
    said = f'echo "$*" >>{tmp_path}/calls\necho "${{ANSWER-7}}"\nexit $STATUS\n'
    executable(tmp_path / "bin" / "sbatch", said)
    return tmp_path


def submit(folder: Path, *arguments: str, status: int = 0, **environment: str) -> str:
    """What it says on stderr. Fails where it ends with another status."""
    changed = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "STATUS": "0", **environment}
    command = (SUBMIT, "--program", program("amasia-stub"), *arguments)
    return run(*command, cwd=folder, status=status, **changed).stderr


def calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run", "stub"], "--gpus takes how many GPUs"),
        (["--gpus", "2x", "run", "stub"], "--gpus takes how many GPUs"),
        (["--gpus", "2", "--as", "both", "run", "stub"], "--as takes shards or sessions"),
        (["--gpus", "2", "--at-once", "-1", "run", "stub"], "--at-once takes a positive number"),
        (["--gpus", "2", "--fast", "1", "run", "stub"], "no option --fast"),
        (["--gpus"], "--gpus wants a value"),
        (["--gpus", "2", "merge", "a.json"], "expected study or run"),
        (["--gpus", "2", "run", "stub", "--out=x.json"], "--out=x.json is decided here"),
        (["--gpus", "2", "run", "stub", "--shard", "1/2"], "--shard is decided here"),
        (["--gpus", "2", "run", "gemini"], "gemini"),
        (["--gpus", "2", "--program", "absent", "run", "stub"], "absent is not a program"),
    ],
)
def test_mistakes_are_refused_before_anything_is_submitted(
    no_cluster: Path, arguments: list[str], complaint: str
) -> None:
    assert complaint in submit(no_cluster, *arguments, status=2)
    assert not calls(no_cluster) and not (no_cluster / "out").exists()


def test_what_is_submitted(no_cluster: Path) -> None:
    options = ("--gpus", "8", "--gpu-type", "h200", "--at-once", "3", "--sbatch=--time=60")
    same = (*options, "run", "stub", "--preset", "paper")
    assert "so some of 8 GPUs get none" in submit(no_cluster, *same)
    array, merge = calls(no_cluster)
    for part in ("--array=1-8%3", "--gres=gpu:h200:1", "--time=60", "--ntasks=1"):
        assert part in array.split()
    assert "--dependency=afterany:7" in merge.split() and "--gres" not in merge
    folder = no_cluster / "out/campaign-run-shards"
    assert (folder / "jobs").read_text().split() == ["7", "7"]

    assert "holds another campaign" in submit(no_cluster, *same[:-1], "smoke", status=2)
    for part in (1, 2, 3, 5):
        (folder / f"shard-{part}.status").write_text("0\n")
    submit(no_cluster, *same)
    assert "--array=4,6,7,8%3" in calls(no_cluster)[2].split()
    for part in range(1, 9):
        (folder / f"shard-{part}.status").write_text("0\n")
    submit(no_cluster, *same)
    assert len(calls(no_cluster)) == 5 and "dependency" not in calls(no_cluster)[4]


def test_an_sbatch_that_refuses_is_the_end(no_cluster: Path) -> None:
    said = submit(no_cluster, "--gpus", "2", "run", "stub", status=1, STATUS="1", ANSWER="")
    assert "sbatch refused" in said and len(calls(no_cluster)) == 1
    assert not (no_cluster / "out/campaign-run-shards/jobs").exists()


def test_a_dry_run_submits_nothing(no_cluster: Path) -> None:
    assert "--array=1-2" in submit(no_cluster, "--dry-run", "--gpus", "2", "run", "stub")
    assert not calls(no_cluster) and not list(no_cluster.rglob("campaign"))


def test_merging_nothing_says_so(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        assert "holds no campaign" in run(MERGE, folder, status=2).stderr
