"""The figures by name. Each is a pure function from frames to a matplotlib Figure."""

from plots.figures.async_copy import async_copy
from plots.figures.dpx import dpx_blocks
from plots.figures.dsm import dsm_ring
from plots.figures.expectation import balance, expectation, generations
from plots.figures.floor import floor
from plots.figures.heatmap import heatmap
from plots.figures.launch import launch, launch_costs
from plots.figures.memory import in_flight, latency, persistence
from plots.figures.roofline import roofline
from plots.figures.samples import samples
from plots.figures.speedup import speedup
from plots.figures.tensor import tensor_energy, wgmma_n

__all__ = [
    "async_copy",
    "balance",
    "dpx_blocks",
    "dsm_ring",
    "expectation",
    "floor",
    "generations",
    "heatmap",
    "in_flight",
    "latency",
    "launch",
    "launch_costs",
    "persistence",
    "roofline",
    "samples",
    "speedup",
    "tensor_energy",
    "wgmma_n",
]
