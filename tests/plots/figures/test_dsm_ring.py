"""The ring copy."""

from __future__ import annotations

from plots.data.load import load
from plots.figures.dsm_ring import best_of_clusters, dsm_ring


def test_the_ring_has_a_surface_per_cluster_size_and_a_curve_per_width(dsm_file):
    *surfaces, words, quads = dsm_ring(load([dsm_file])).axes
    assert [s.get_title(loc="left") for s in surfaces] == [
        f"clusters of {n}, TB/s"
        for n in (2, 4, 8)  # 1 has no neighbour
    ]
    # 64, 256, 1024 threads x 1, 4 accesses; op=push is another curve and is left out.
    assert [t.get_text() for t in surfaces[0].texts] == [
        "0.06", "0.26", "0.26", "1.02", "1.02", "4.10",
    ]  # fmt: skip
    assert words.get_xlim()[1] < quads.get_xlim()[1]
    pairs = words.lines[0]
    assert list(pairs.get_xdata()) == [256, 1024, 1024, 4096, 4096, 16384]


def test_the_best_of_each_cluster_size_is_in_the_prose(dsm_file):
    best = {b.cluster: b for b in best_of_clusters(load([dsm_file]))}
    assert list(best) == [2, 4, 8]
    assert best[2].gb_per_s == 4400 and best[4].gb_per_s == best[8].gb_per_s == 3400
    assert best[2].last_in_flight == 1024 * 4 * 16
