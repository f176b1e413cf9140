"""The model: what a run takes on a machine that microbenchmarks describe.

A run is a list of phases, launches of one shape each. A block of a phase does its steps one after
another; what a step is, its traits say (traits.py). All times are in cycles of the SM until the
last line. EQUATIONS is the text of the page, one line per line of Phase's functions here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from plots.data.load import Results
from plots.errors import PlotsError

EQUATIONS = """\
    step    = instructions + latency                       of one warp, its chain
    alone   = max(step, travel / flight, asking)           where copies are asked for ahead
    alone   = travel / group + max(step, issue, wavefronts)   where a step waits for its own copy
    asking  = max(rounds x round, boxes x box)             of the thread that asks the copy engine
    issue   = warps x instructions / schedulers            of all that an SM issues
    shared  = wavefronts of shared memory + sent           one a cycle; sent: to other SMs
    bytes   = max(memory / bandwidth(in flight), L2 / bandwidth of L2)
    engine  = boxes x box                                  where a step waits for its own copy
    parts   = steps x (max(issue, shared) x n / SMs, engine x n / SMs, bytes x n,
                       alone x waves + start)
    launch  = (sum of parts ^ power) ^ (1 / power)         power: how well parts hide each other
    launch  = the largest part                             where tensor cores multiply by themselves
    time    = sum of launches x (launch + cost of an empty launch + trips x latency of memory)"""


def _between(curve: Sequence[tuple[float, float]], at: float) -> float:
    x, y = zip(*curve, strict=True)
    return float(np.interp(at, x, y))


def _mean(values: pd.Series) -> float:
    return float(np.exp(np.mean(np.log(values.to_numpy(dtype=float)))))


class _Points:
    """The microbenchmarks of one GPU, asked for by name and coordinates."""

    def __init__(self, results: Results, gpu: str) -> None:
        points = results.points[(results.points["gpu"] == gpu) & (results.points["status"] == "ok")]
        self._by_name = {str(n): of for n, of in points.groupby("microbenchmark")}
        self._none = points.iloc[:0]
        newest = results.ceilings[results.ceilings["gpu"] == gpu].sort_values("date")
        self.ceilings = {
            str(n): float(v) for n, v in zip(newest["name"], newest["value"], strict=True)
        }

    def all(self, name: str, quantity: str, **at: str) -> pd.DataFrame:
        found = self._by_name.get(name, self._none)
        fits = [
            q == quantity and all(place.get(k) == v for k, v in at.items())
            for q, place in zip(found["quantity"], found["at"], strict=True)
        ]
        return found[np.array(fits, dtype=bool)]

    def one(self, name: str, quantity: str, **at: str) -> float | None:
        """The geometric mean of the points there; None without any."""
        found = self.all(name, quantity, **at)
        return None if found.empty else _mean(found["median"])

    def curve(self, coordinate: str, of: pd.DataFrame) -> tuple[tuple[float, float], ...] | None:
        """The largest value at each place of a coordinate; None without any."""
        best: dict[float, float] = {}
        for at, value in zip(of["at"], of["median"], strict=True):
            x = float(at[coordinate])
            best[x] = max(best.get(x, 0.0), float(value))
        return tuple(sorted(best.items())) or None

    def means(self, coordinate: str, of: pd.DataFrame) -> tuple[tuple[float, float], ...] | None:
        """The geometric mean at each place of a coordinate; None without any."""
        places = of["at"].map(lambda at: float(at[coordinate]))
        means = {float(x): _mean(values) for x, values in of["median"].groupby(places)}
        return tuple(sorted(means.items())) or None


FED = "wgmma bf16 fed"  # a rate of Machine.tensor

# Places of a microbenchmark, and a value at each, in order.
Curve = tuple[tuple[float, float], ...]

# What a machine is described by, and of which microbenchmark it is; the page lists it.
SOURCES = {
    "sms": "device: SMs",
    "l2_bytes": "device: bytes of L2",
    "clock_ghz": "device: largest clock of the SM",
    "read_gb_s": "ceilings: read_bandwidth",
    "write_gb_s": "ceilings: write_bandwidth",
    "copy_gb_s": "ceilings: copy_bandwidth",
    "l2_gb_s": "ceilings: l2_read_bandwidth",
    "op": "ceilings: dependent_op_ns, two operations",
    "divide": "instruction/divide_root: div.rn.f32, dependent",
    "launch_stream_us": "ceilings: launch_stream_us",
    "launch_graph_us": "ceilings: launch_graph_us",
    "memory": "memory/latency: random chase behind L2",
    "l2": "memory/latency: random chase inside L2",
    "load_memory": "memory/in_flight: loads of 512 B by a warp of each SM, from memory",
    "load_l2": "memory/in_flight: the same from L2",
    "shared": "dsm/latency: a block's own shared memory",
    "copy_memory": "tma/latency: cp.async of 512 B from memory",
    "copy_l2": "tma/latency: cp.async of 512 B from L2",
    "bulk_memory": "tma/latency: bulk copy of 4 KiB from memory",
    "bulk_l2": "tma/latency: bulk copy of 4 KiB from L2",
    "received": "tma/latency: bytes a cycle by which copies of 4 and 16 KiB to one SM differ",
    "block_barrier": "launch/barriers: block, by threads",
    "cluster_barrier": "launch/barriers: cluster, by threads of a block",
    "meeting": "launch/barriers: cluster, relaxed, by threads of a block",
    "hand_over": "dsm/handover: st.async to the next block",
    "stages": "async_copy/stage_cost: of a way, warps that compute and producer warps, by bytes",
    "word": "launch/flags: a word through L2, any two SMs",
    "store_read": "tma/latency: bulk store of 1 KiB, until its bytes are read",
    "round": "tma/bandwidth: a thread's interval of boxes of 1 KiB, each with its own wait",
    "box": "tma/bandwidth: the least interval of boxes of 1 KiB of an SM, four threads",
    "in_flight": "memory/in_flight: bandwidth by bytes in flight of an SM",
    "own_adds": "dsm/atomics: additions a cycle in a block's own memory, a word per lane",
    "random_adds": "dsm/atomics: the same at random words",
    "remote_adds": "dsm/atomics: the same at random words of a cluster of two",
    "tensor": "tensor_core: rates of mma and wgmma on random data, and of wgmma that is fed",
}


@dataclass(frozen=True)
class Machine:
    """A GPU as its microbenchmarks have it. Latencies in cycles, bandwidths in GB/s."""

    gpu: str
    sms: int
    l2_bytes: float
    clock_ghz: float
    read_gb_s: float
    write_gb_s: float
    copy_gb_s: float
    l2_gb_s: float
    op: float
    divide: float
    launch_stream_us: float
    launch_graph_us: float
    memory: float
    l2: float
    load_memory: float
    load_l2: float
    shared: float
    copy_memory: float
    copy_l2: float
    bulk_memory: float
    bulk_l2: float
    received: float
    block_barrier: tuple[tuple[float, float], ...]
    cluster_barrier: tuple[tuple[float, float], ...]
    meeting: tuple[tuple[float, float], ...]
    hand_over: float
    stages: tuple[tuple[str, Curve], ...]
    word: float
    store_read: float
    round: float
    box: float
    in_flight: tuple[tuple[float, float], ...]
    own_adds: float
    random_adds: float
    remote_adds: float
    tensor: tuple[tuple[str, float], ...]
    schedulers: int = 4  # of an SM, each of which issues an instruction a cycle

    @classmethod
    def of(cls, results: Results, gpu: str) -> Machine:
        """From what is recorded of a GPU. Raises PlotsError that names what is missing."""
        if results.files[results.files["gpu"] == gpu].empty:
            raise PlotsError(f"no file is recorded of {gpu}")
        recorded = _recorded(results, gpu)
        missing = [SOURCES[name] for name in SOURCES if name not in recorded]
        if missing:
            raise PlotsError(
                f"the model needs microbenchmarks that are not recorded of {gpu}: "
                f"{'; '.join(missing)}"
            )
        return cls(gpu=gpu, **recorded)

    @classmethod
    def with_fallback(
        cls, results: Results, gpu: str, other: Machine
    ) -> tuple[Machine, tuple[str, ...]]:
        """The same, and which values are another GPU's because this one's are not recorded, in
        words. Raises PlotsError where not even a file is."""
        files = results.files[results.files["gpu"] == gpu]
        if files.empty:
            raise PlotsError(f"no file is recorded of {gpu}")
        recorded = _recorded(results, gpu)
        borrowed = [SOURCES[name] for name in SOURCES if name not in recorded]
        rates, others = dict(recorded.get("tensor", ())), dict(other.tensor)
        if rates and others.keys() - rates.keys():
            borrowed.append(f"tensor_core: {', '.join(sorted(others.keys() - rates.keys()))}")
            recorded["tensor"] = tuple(sorted({**others, **rates}.items()))
        return replace(other, gpu=gpu, **recorded), tuple(borrowed)

    def with_bandwidth(self, gpu: str, factor: float) -> Machine:
        """The same GPU with another memory, of so much of the bandwidth: what a data sheet tells of
        a GPU of the same chip. As many bytes in flight bring as much, up to what memory gives."""
        most = factor * self.read_gb_s
        return replace(
            self, gpu=gpu, read_gb_s=most, write_gb_s=factor * self.write_gb_s,
            copy_gb_s=factor * self.copy_gb_s,
            in_flight=tuple((x, min(y, most)) for x, y in self.in_flight),
        )  # fmt: skip

    def barrier(self, threads: float) -> float:
        """Cycles of a block barrier."""
        return _between(self.block_barrier, threads)

    def arrival(self, count: float, besides: float, share: float) -> float:
        """Cycles until so many bytes have arrived on an SM that asks for as many again when other
        things have taken it ``besides`` cycles: as fast as one SM can receive while the others do
        not ask, and in its ``share`` of cycles while all do, which is as often as it does itself.
        """
        idle = count / self.received
        share = max(idle, share)
        # The step T = besides + idle + (share - idle) x share / T.
        own = besides + idle
        return (own + math.sqrt(own**2 + 4 * share * (share - idle))) / 2 - besides

    def stage(self, way: str, producers: float, warps: float, size: float) -> float:
        """Cycles by which a stage of so many bytes lengthens the chain of those warps that compute
        on it: brought by ``way`` (registers, cp_async, bulk) by the same warps, or by producers."""
        curves = dict(self.stages)

        def cost(count: str) -> float | None:
            """By so many warps; None where that is not recorded, as of a quick run."""
            names = [f"{way} {count} 0"]
            if producers > 0:
                several = [f"{way}_producer {count} 4"] if producers > 1 else []
                names = [*several, f"{way}_producer {count} 1"]
            known = [curves[name] for name in names if name in curves]
            return _between(known[0], size) if known else None

        two, four = cost("2"), cost("4")
        if two is None or four is None:
            found = two if four is None else four
            if found is None:
                raise PlotsError(f"async_copy/stage_cost is not recorded for {way} of {self.gpu}")
            return found
        share = (min(max(warps, 2.0), 4.0) - 2.0) / 2.0
        return (1 - share) * two + share * four

    def linked(self, threads: float) -> float:
        """Cycles of a cluster's barrier, its blocks of so many threads."""
        return _between(self.cluster_barrier, threads)

    def met(self, threads: float) -> float:
        """Cycles of a cluster's barrier that orders nothing: no fence."""
        return _between(self.meeting, threads)

    def read_bandwidth(self, in_flight: float) -> float:
        """GB/s that so many bytes in flight on every SM bring (Little's law, as measured)."""
        x, y = (np.log(side) for side in zip(*self.in_flight, strict=True))
        slope = max(in_flight, 1.0)
        if math.log(slope) < x[0]:
            return float(math.exp(y[0]) * slope / math.exp(x[0]))
        return min(float(np.exp(np.interp(math.log(slope), x, y))), self.read_gb_s)

    def tensor_gflop_s(self, instruction: str, kind: str) -> float:
        """Dense rate of "mma" or "wgmma" in a type."""
        return dict(self.tensor).get(f"{instruction} {kind}", math.nan)

    def fed_gflop_s(self, kind: str) -> float:
        """Rate of wgmma in a type while operands come from L2: as much of its rate on operands that
        lie there as bf16 keeps, 1 where that is not recorded. It is the power that both draw."""
        rates = dict(self.tensor)
        kept = min(1.0, rates[FED] / rates["wgmma bf16"]) if FED in rates else 1.0
        return kept * self.tensor_gflop_s("wgmma", kind)


def _recorded(results: Results, gpu: str) -> dict[str, Any]:
    """The members of a Machine that are recorded of a GPU."""
    points = _Points(results, gpu)
    device = results.files[results.files["gpu"] == gpu].iloc[-1]["provenance"]["device"]
    clock, sms = device["max_clock_mhz"] / 1e3, int(device["sm_count"])
    chase = {"method": "ladder", "order": "random", "hint": "cg"}

    def latency(name: str, **at: str) -> float | None:
        return points.one(name, "latency", **at)

    def copied(way: str, level: str, box: str) -> float | None:
        at = {"operation": "load", "way": way, "level": level, "box": box, "completion": "done"}
        return latency("tma/latency", **at)

    def loaded(level: str) -> float | None:
        """Cycles that the fewest bytes in flight are on their way (Little's law)."""
        rate = points.one("memory/in_flight", "bandwidth", level=level, in_flight="512")
        return None if rate is None else 512 * sms * clock / rate

    ceilings = points.ceilings
    dependent = ceilings.get("dependent_op_ns")
    boxes = points.one(
        "tma/bandwidth", "bandwidth", operation="load", way="2D", box="1024", in_flight="16",
        blocks="1 per SM", level="memory",
    )  # fmt: skip
    four = points.one(
        "tma/bandwidth", "bandwidth", operation="load", way="2D", box="1024", blocks="4 per SM",
        level="l2",
    )  # fmt: skip
    barriers = points.all("launch/barriers", "latency", scope="block", order="acq_rel")
    linked = points.all("launch/barriers", "latency", scope="cluster", order="acq_rel")
    cluster_barrier = points.means("threads", linked)
    meeting = points.all("launch/barriers", "latency", scope="cluster", order="relaxed")
    flights = points.all("memory/in_flight", "bandwidth", level="memory")
    found = {
        "sms": sms,
        "l2_bytes": float(device["l2_bytes"]),
        "clock_ghz": clock,
        "read_gb_s": ceilings.get("read_bandwidth"),
        "write_gb_s": ceilings.get("write_bandwidth"),
        "copy_gb_s": ceilings.get("copy_bandwidth"),
        "l2_gb_s": ceilings.get("l2_read_bandwidth"),
        "op": None if dependent is None else dependent * clock,
        "divide": latency(
            "instruction/divide_root", ptx="div.rn.f32", sequence="dependent"
        ),
        "launch_stream_us": ceilings.get("launch_stream_us"),
        "launch_graph_us": ceilings.get("launch_graph_us"),
        "memory": latency("memory/latency", level="memory", **chase),
        "l2": latency("memory/latency", level="l2", **chase),
        "load_memory": loaded("memory"),
        "load_l2": loaded("l2"),
        "shared": latency("dsm/latency", access="load", distance="0"),
        "copy_memory": copied("cp.async", "memory", "512"),
        "copy_l2": copied("cp.async", "l2", "512"),
        "bulk_memory": copied("flat", "memory", "4096"),
        "bulk_l2": copied("flat", "l2", "4096"),
        "received": _slope(copied("flat", "l2", "4096"), copied("flat", "l2", "16384"), 12288.0),
        "block_barrier": points.curve("threads", barriers),
        "cluster_barrier": cluster_barrier,
        "meeting": points.means("threads", meeting),
        "hand_over": latency("dsm/handover", way="st_async", distance="1"),
        "stages": _stage_costs(points),
        "word": latency("launch/flags", where="any two SMs", carry="word"),
        "store_read": latency(
            "tma/latency", operation="store", way="flat", box="1024", completion="read"
        ),
        "round": None if boxes is None else 1024 * sms * clock / boxes,
        "box": None if four is None else 1024 * sms * clock / four,
        "in_flight": points.curve("in_flight", flights),
        "own_adds": points.one("dsm/atomics", "rate", form="red", pattern="own", window="cta"),
        "random_adds": points.one("dsm/atomics", "rate", form="red", pattern="random",
                                  window="cta"),
        "remote_adds": points.one("dsm/atomics", "rate", form="red", pattern="random",
                                  window="cluster", cluster="2"),
        "tensor": _tensor_rates(points),
    }  # fmt: skip
    return {name: value for name, value in found.items() if value is not None}


def _stage_costs(points: _Points) -> tuple[tuple[str, Curve], ...] | None:
    """ "way warps producers" -> cycles by which a stage takes longer than where none is brought, by
    its bytes; None where that is not recorded."""
    found = points.all("async_copy/stage_cost", "latency")
    taken = {
        (at["way"], at["warps"], at.get("producers", ""), float(at["bytes"])): float(cycles)
        for at, cycles in zip(found["at"], found["median"], strict=True)
    }
    curves: dict[str, dict[float, float]] = {}
    for (way, warps, producers, size), cycles in taken.items():
        none = taken.get(("none", warps, "0", size))
        if way != "none" and none is not None:
            curves.setdefault(f"{way} {warps} {producers}", {})[size] = cycles - none
    return tuple((name, tuple(sorted(curve.items()))) for name, curve in curves.items()) or None


def _slope(short: float | None, long: float | None, more: float) -> float | None:
    """So much more in so many more cycles; None where one of the two is not known."""
    return None if short is None or long is None or long <= short else more / (long - short)


def _tensor_rates(points: _Points) -> tuple[tuple[str, float], ...] | None:
    """The best throughput of each instruction and type on random data, in GFLOP/s, and of wgmma
    that the copy engine feeds meanwhile."""
    rates: dict[str, float] = {}
    for instruction in ("mma", "wgmma"):
        found = points.all(f"tensor_core/{instruction}", "throughput", data="random")
        for at, value, unit in zip(found["at"], found["median"], found["unit"], strict=True):
            if at.get("sum") not in (None, "f32"):  # as gemm sums
                continue
            if unit == "TFLOP/s" and at.get("input") in ("bf16", "tf32", "e4m3"):
                name = f"{instruction} {at['input']}"
                rates[name] = max(rates.get(name, 0.0), 1e3 * float(value))
    fed = points.one("tensor_core/wgmma_tma", "throughput", input="bf16", stages="4")
    if rates and fed is not None:
        rates[FED] = 1e3 * fed
    return tuple(sorted(rates.items())) or None


@dataclass(frozen=True)
class Phase:
    """Launches of one shape. Numbers are of a block and a step unless said otherwise; where blocks
    or launches are arrays, each entry is a shape of its own."""

    launches: float | np.ndarray
    blocks: float | np.ndarray  # of a launch
    steps: float = 1.0  # of a block, one after another
    warps: float = 1.0  # that execute the instructions
    instructions: float = 0.0  # of each of them
    latency: float = 0.0  # cycles of the chain that no other warp of the block can fill
    wavefronts: float = 0.0  # cycles of an SM's shared memory
    sent: float = 0.0  # the same of what goes to other SMs, for which nobody waits
    rounds: float = 0.0  # barriers for which one thread asks the copy engine
    boxes: float = 0.0  # that one thread asks for, several of which a barrier may wait for
    travel: float = 0.0  # cycles from asking for a step's bytes until they are there
    flight: float = 0.0  # steps' copies that travel together; 0: the step waits for its own
    group: float = 1.0  # steps whose copies are waited for together, where flight is 0
    read: float = 0.0  # bytes that come from memory
    write: float = 0.0  # bytes that go there
    l2: float = 0.0  # bytes that come from L2
    start: float = 0.0  # cycles before the first step and after the last
    in_flight: float = 0.0  # bytes on their way that a block may have; 0: as many as it likes
    resident: float = 1.0  # blocks on an SM
    copies: float = 0.0  # boxes that the engine moves in and out, where that is more than either
    seconds: float = 0.0  # of all launches together, where a rate says it: a floor of the phase
    persistent: bool = False  # blocks stay until all is done: no waves, part of a step is a step
    beside: bool = False  # nobody does two things in turn: the longest part hides the others


# What a launch spends its time with.
PARTS = ("launch", "bytes", "issue", "shared", "wait", "engine")


@dataclass(frozen=True)
class Constants:
    """What no microbenchmark says. ``power``: how well the parts of a launch hide behind each
    other, infinity if the longest hides the others and 1 if none hides any. ``trips``: what a
    launch of a real kernel costs beyond an empty one, for first instructions, arguments and last
    blocks, in latencies of memory. Fitted with the app left out that they are used for
    (evaluation.py)."""

    power: float = math.inf
    trips: float = 0.0


@dataclass(frozen=True)
class Parts:
    """What each resource takes of the launches of a run, in ms: arrays of one length, an entry per
    shape of launch, each for all its launches together."""

    bytes: np.ndarray
    issue: np.ndarray
    shared: np.ndarray
    wait: np.ndarray
    engine: np.ndarray
    beside: np.ndarray  # bool: Phase.beside
    launch: float = 0.0  # launches of empty kernels
    trip: float = 0.0  # a latency of memory for each of them
    host: float = 0.0  # what the host needs where launches do not wait on the GPU; a floor

    def resources(self) -> np.ndarray:
        """(resources, shapes)."""
        return np.stack([self.bytes, self.issue, self.shared, self.wait, self.engine])

    def of_launches(self, power: float) -> float:
        """ms of all launches, but for what a launch costs."""
        return float(combined(self.resources(), power, self.beside).sum())

    def time(self, constants: Constants) -> float:
        """ms of the run."""
        taken = self.of_launches(constants.power) + self.to_launch(constants)
        return max(taken, self.host)

    def to_launch(self, constants: Constants) -> float:
        """ms that it takes to begin and to end launches."""
        return self.launch + constants.trips * self.trip

    def bound_by(self, constants: Constants) -> str:
        """Which part takes most of the run."""
        resources = self.resources()
        most = resources.argmax(axis=0)
        taken = [float(resources.max(axis=0)[most == i].sum()) for i in range(len(resources))]
        launch = max(self.to_launch(constants), self.host)
        return PARTS[int(np.argmax([launch, *taken]))]


def combined(resources: np.ndarray, power: float, beside: np.ndarray) -> np.ndarray:
    """Parts that hide behind each other as ``power`` says, and wholly where ``beside``.
    Instructions and the passes that they make through shared memory hide each other in any case.
    ``resources``: as Parts.resources has them."""
    most = resources.max(axis=0)
    if math.isinf(power):
        return most
    bytes_, issue, shared, wait, engine = resources
    parts = np.stack([bytes_, np.maximum(issue, shared), wait, engine])
    scaled = parts / np.where(most > 0, most, 1.0)
    return np.where(beside, most, most * np.sum(scaled**power, axis=0) ** (1 / power))


def _of_phase(machine: Machine, phase: Phase) -> list[np.ndarray]:
    launches, blocks = np.broadcast_arrays(
        np.asarray(phase.launches, dtype=float), np.asarray(phase.blocks, dtype=float)
    )
    launches, blocks = np.atleast_1d(launches), np.atleast_1d(blocks)
    ms = 1e-6 / machine.clock_ghz  # of a cycle
    busy = np.minimum(blocks, machine.sms)  # SMs that have a block
    resident = np.minimum(phase.resident, np.maximum(1.0, np.ceil(blocks / machine.sms)))
    waves = np.maximum(1.0, blocks / (busy * resident))
    if not phase.persistent:
        # The last wave of few is as long as a full one.
        waves = np.where(waves < 4, np.ceil(waves - 1e-9), waves)
    on_sm = blocks / busy
    # Another warp's instructions fill the latencies of one. That they take turns is in `issue`, and
    # makes a step longer only where it begins when its copies have come.
    full = phase.instructions * phase.warps / machine.schedulers
    step = phase.instructions + phase.latency
    if phase.flight > 0:
        asking = max(phase.rounds * machine.round, phase.boxes * machine.box)
        alone = max(step, phase.travel / phase.flight, asking)
    else:
        alone = phase.travel / phase.group + max(full, phase.wavefronts, step)
    issue = on_sm * phase.steps * phase.warps * phase.instructions / machine.schedulers
    shared = on_sm * phase.steps * (phase.wavefronts + phase.sent)
    # Boxes that are asked for ahead are in `alone`, at the interval of the thread that asks.
    boxes = 0.0 if phase.flight > 0 else max(phase.copies, phase.rounds, phase.boxes)
    engine = on_sm * phase.steps * boxes * machine.box
    wait = waves * phase.steps * alone + phase.start
    asked = phase.in_flight * resident if phase.in_flight > 0 else math.inf
    reading = np.array(
        [machine.read_bandwidth(a * b / machine.sms) if math.isfinite(a) else machine.read_gb_s
         for a, b in zip(np.broadcast_to(asked, blocks.shape), busy, strict=True)]
    )  # fmt: skip
    moved = blocks * phase.steps
    memory = moved * (phase.read / reading + phase.write / machine.write_gb_s) * 1e-6
    if phase.read and phase.write:
        together = (phase.read + phase.write) / machine.copy_gb_s
        memory = np.maximum(memory, moved * together * 1e-6)
    cached = moved * phase.l2 / machine.l2_gb_s * 1e-6
    taken = np.maximum(memory, cached)
    least = 1e3 * phase.seconds / launches.sum()
    return [
        launches * taken,
        launches * np.maximum(issue * ms, least),
        launches * shared * ms,
        launches * wait * ms,
        launches * engine * ms,
        launches,
        np.full(launches.shape, phase.beside),
    ]


def parts_of(machine: Machine, phases: Sequence[Phase], launch: str, queued: bool = True) -> Parts:
    """What the phases of a run take on a machine. ``launch``: "graph" or "stream"; ``queued``: the
    launches of a stream wait on the GPU when the first begins, so that the host is no bound."""
    columns = [_of_phase(machine, phase) for phase in phases]
    bytes_, issue, shared, wait, engine, launches, beside = (
        np.concatenate([c[i] for c in columns]) for i in range(7)
    )
    count = float(launches.sum())
    host = 0.0 if launch == "graph" or queued else count * machine.launch_stream_us / 1e3
    trip = count * machine.memory * 1e-6 / machine.clock_ghz
    empty = count * machine.launch_graph_us / 1e3
    return Parts(bytes_, issue, shared, wait, engine, beside, empty, trip, host)
