"""The cache can only be empty, never wrong."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
import synthetic

from plots.data.cache import Cache, Digests
from plots.data.load import load


def test_what_was_kept_is_found(tmp_path):
    cache = Cache(tmp_path)
    key = cache.key("a", b"b")
    assert cache.find(key) is None
    cache.keep(key, b"content")
    assert Cache(tmp_path).find(key) == b"content"
    assert cache.key("ab", b"") != cache.key("a", b"b") != cache.key("a", b"c")


def test_a_damaged_entry_is_absent(tmp_path):
    cache = Cache(tmp_path)
    key = cache.key("a")
    cache.keep(key, b"content")
    (path,) = tmp_path.glob("??/*")
    path.write_bytes(path.read_bytes()[:-1])
    assert cache.find(key) is None
    path.write_bytes(b"")
    assert cache.find(key) is None


def test_without_a_folder_nothing_is_kept_and_nothing_breaks(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    for folder in (None, in_the_way / "below a file"):
        cache = Cache(folder)
        cache.keep(cache.key("a"), b"content")
        assert cache.find(cache.key("a")) is None
        cache.forget_unused()


def test_what_was_not_used_for_long_goes(tmp_path):
    cache = Cache(tmp_path)
    for name in ("old", "new"):
        cache.keep(cache.key(name), b"x")
    os.utime(next(tmp_path.glob(f"??/{cache.key('old')}")), (0, 0))
    cache.forget_unused()
    assert cache.find(cache.key("old")) is None and cache.find(cache.key("new")) == b"x"


def test_digests_are_of_content(paper_file, paper, save):
    again = load([paper_file])
    assert Digests().of(again) == Digests().of(paper)
    # A value deep in a frame counts, and so do frames that look alike.
    changed = synthetic.paper_like()
    changed["groups"][0]["rows"][0]["samples"]["time_ms"][3] *= 1.001
    synthetic.summarise(changed["groups"][0])
    assert Digests().of(load([save(changed, paper_file.name)])) != Digests().of(paper)
    assert Digests().of(replace(paper, notes=["x"])) != Digests().of(paper)
    assert Digests().of(("a", "b")) != Digests().of(("a", "c"))
    assert Digests().of(1) != Digests().of("1")
    with pytest.raises(TypeError, match="has no digest"):
        Digests().of(object())
