// A device for tests without a GPU: it takes no time that the script does not give it, answers what
// the script says, and breaks where the script wants it to. The measuring loops around it are the
// product's. Functions of shared libraries that `amasia bench` loads really run, on memory of the
// host, and are judged by what they leave there; their times are the script's all the same.
//
// The script is one JSON object; every member is optional. Lists are cyclic unless stated.
//   `device`:  {"name": ..., "uuid": ..., "clock_mhz": ..., "memory_clock_mhz": ...,
//              "memory_bus_bits": ..., "fault": FAULT}.
//   `state`:   {"power_limit_w": "700", ...} at the run's start.
//   `state_after`: the same at a group's end.
//   `ceilings`: {"<name>": [...]} by attempt at the ceilings, the last one from then on.
//   `probe`:   {"wait_us": [...], "cycles": [...], "memory_us": [...]}, each by probe.
//              Without it there is no probe.
//   `of_size`: {"n=1000": {...}}: members that count in groups of this size only.
//   `again`:   {"probe": ..., "state_after": ...} of the second attempt at a group (needs "log").
//   `open`:    FAULT when an instance is made.
//   `poisoned`: false: reset() leaves a right answer.
//   `work`:    {"bytes_read": ..., "bytes_written": ...} that the app "stub" claims.
//   `log`:     a file that receives one line for each task.
//              These are "device", "ceilings", "open <group>", "nothing" when that is verified,
//              "point <index>", and "count <variant> <config>" for each row that a profiler counts.
//   `stdout`:  verbatim what a library would print while a group runs.
//   `rows`:    {KEY: ROW}.
//              A KEY is "<variant>", "<variant> <role>", "<variant> <role> control" or
//              "<variant> at <config>".
//   `points`:  {"<index>": {"values": [...], "time_ns": [...] (without it none), "fault": FAULT,
//              "unavailable": "why"}}, both lists by sample.
//   `nothing_ms`: the time of an empty run of a callable.
//   `drift`:   [...] factors of all rows together, by round.
//
// A ROW is an object. Lists are by sample, those of "second" (the second run in a round) by round.
//   Times:   "ms": 1.0, "noise": 0.001, "times": [... ms], "second": [... factors].
//   Device:  "throttled": [...], "clock_mhz": [...], "energy_mj": 5.0.
//   Outcome: "wrong": true, "wrong_after": true, "error": 0.25 (of 1 accepted), "skipped": "why".
//   Behaviour: "blocked": false, "elsewhere": why what it enqueues is not all, "left_set": what is
//              left of persisting L2, "sleep_s": 0.01, "fault": FAULT.
// A callable (harness/implementations) is really called. It also has "side_stream_ms": 0.5 and
// "waits": true; without "ms" and "times" its time is that of the call.
//
// A FAULT is an object.
//   `do`:      "abort", "exit", "kill", "hang", "throw", "no_memory" or "break".
//   `at`:      "prepare", "time", "verify" or "count" (of a row). `call`: 0.
//   `after`:   a file: only once it exists.
//   `once`:    a file: only if it can be created.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>

#include <nlohmann/json.hpp>

#include "harness/gpu/instrument.hpp"
#include "harness/user_kernel/machine.hpp"

namespace amasia {

/// What the environment variable AMASIA_STUB holds; an empty object without it.
const nlohmann::ordered_json& stub_script();

std::unique_ptr<Instrument> make_stub_instrument(nlohmann::ordered_json script);

/// The next reading of this point by stub_script().
Reading stub_reading(int point, int call);

/// What stub_script() says of a ceiling, 1000 if nothing.
double stub_ceiling(const std::string& name);

/// Breaks in the way the script says: `fault` may be empty.
void break_down(const nlohmann::ordered_json& fault);

/// A machine whose memory is the host's. When work that is enqueued happens is left to the test.
class HostMemory : public Machine {
 public:
  virtual void enqueue(std::function<void()> work) = 0;

  std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    constexpr std::align_val_t alignment{256};
    void* const memory = ::operator new(bytes, alignment);
    return {static_cast<std::byte*>(memory), [](std::byte* p) { ::operator delete(p, alignment); }};
  }
  void upload(std::byte* to, const std::byte* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void download(std::byte* to, const std::byte* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void fill(std::byte* at, unsigned char value, std::size_t bytes, Stream) override {
    enqueue([=] { std::memset(at, value, bytes); });
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes, Stream) override {
    enqueue([=] { std::memcpy(to, from, bytes); });
  }
  void draw(std::byte* to, const Draws& draws, Stream) override {
    enqueue([=] { draw_on_host(to, draws); });
  }
  void alter(std::byte* data, const Alteration& alteration, Stream) override {
    enqueue([=] { alter_on_host(data, alteration); });
  }
  Stream stream() override { return nullptr; }
};

}  // namespace amasia
