// How outputs are judged, on a machine that this test controls. A stream is a list of actions. They
// happen when the test waits, or not at all while the stream is blocked.
#include <deque>

#include "harness/user_kernel/buffers.hpp"
#include "harness/user_kernel/trial.hpp"
#include "inputs/errors.hpp"
#include "tests/harness/stub_device/stub_device.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

class Desk : public HostMemory {
 public:
  void enqueue(std::function<void()> work) override { on_stream_.push_back(std::move(work)); }
  void wait_for_stream() override {
    held_ = false;
    for (; !on_stream_.empty(); on_stream_.pop_front()) on_stream_.front()();
  }
  void wait_for_everything() override {
    if (!held_) wait_for_stream();
    for (; !beside_.empty(); beside_.pop_front()) beside_.front()();
  }
  bool hold() override { return held_ = can_hold; }
  bool release() override {
    held_ = false;
    return true;
  }
  std::size_t free_bytes() const override { return free; }
  std::unique_ptr<LoadedModule> load(const std::string&) override { return nullptr; }

  void enqueue_beside(std::function<void()> work) { beside_.push_back(std::move(work)); }

  bool can_hold = true;
  std::size_t free = 1 << 30;

 private:
  std::deque<std::function<void()>> on_stream_{}, beside_{};
  bool held_ = false;
};

constexpr const char* two_libraries = R"(
[[implementation]]
name = "old"
library = "a.so"
function = "f"
arguments = []
[[implementation]]
name = "new"
library = "a.so"
function = "g"
arguments = []
)";

/// y = 2 x, in a description whose output has this tolerance.
class Doubling {
 public:
  explicit Doubling(const std::string& y = "type = \"f32\"\nrole = \"output\"\n",
                    const std::string& x = "type = \"f32\"\nfill = \"uniform\"\n")
      : description_(parse_description("name = \"doubling\"\n[parameters]\nn = 100\n[buffers.x]\n"
                                       "count = \"n\"\nrole = \"input\"\n" +
                                           x + "[buffers.y]\ncount = \"n\"\n" + y + two_libraries,
                                       "d.toml")),
        buffers_(description_, description_.sizes().front(), 7, machine()) {}

  std::unique_ptr<Machine> machine() {
    auto machine = std::make_unique<Desk>();
    desk = machine.get();
    return machine;
  }

  float* x() const { return reinterpret_cast<float*>(buffers_.data(0)); }
  float* y() const { return reinterpret_cast<float*>(buffers_.data(1)); }
  void work() const {
    for (int i = 0; i < 100; ++i) y()[i] = 2 * x()[i];
  }
  Launch on_stream(std::function<void()> more = {}) const {
    return [this, more](Stream) {
      desk->enqueue([this, more] {
        work();
        if (more) more();
      });
    };
  }

  void expect(const Launch& reference) { buffers_.expect_outputs_of(reference, "old"); }

  /// As the harness verifies: restore, run, wait, compare.
  Verdict run(const Launch& launch) {
    buffers_.reset(nullptr);
    launch(nullptr);
    desk->wait_for_stream();
    return buffers_.verify();
  }
  /// The first message about a wrong output.
  std::string trouble_with(const Launch& launch) {
    const Verdict v = run(launch);
    EXPECT_FALSE(v.passed);
    return v.first_mismatches.empty() ? "" : v.first_mismatches.front();
  }

  UserBuffers& buffers() { return buffers_; }
  Desk* desk = nullptr;

 private:
  Description description_;
  UserBuffers buffers_;
};

TEST(UserBuffers, TakesWhatIsRightAndSaysWhereItIsNot) {
  Doubling d;
  d.expect(d.on_stream());
  const Verdict right = d.run(d.on_stream());
  EXPECT_TRUE(right.passed);
  EXPECT_EQ(right.norm, "exact");
  EXPECT_EQ(right.checked, 100);
  EXPECT_EQ(d.buffers().challenges(), 1);
  d.buffers().pose(1);
  EXPECT_TRUE(d.run(d.on_stream()).passed) << "another input, and what is expected for it";
  d.buffers().pose(0);
  EXPECT_TRUE(
      contains(d.trouble_with(d.on_stream([&] { d.y()[17] = 5; })), "y[17]: got 5, expected"));
  EXPECT_TRUE(d.run(d.on_stream()).passed) << "what one run spoilt, the next must not find";
}

TEST(UserBuffers, FindsWorkBesideTheStream) {
  Doubling d;
  d.expect(d.on_stream());
  d.buffers().try_out(d.on_stream());
  EXPECT_TRUE(d.run(d.on_stream()).passed);

  // At once: it waits for nobody.
  const Launch early = [&](Stream) { d.work(); };
  d.buffers().try_out(early);
  EXPECT_TRUE(
      contains(d.trouble_with(d.on_stream()), "y[0] changed while the stream was held back"));

  // Ordered behind the stream's begin, and its end does not wait for it.
  const Launch late = [&](Stream) {
    d.desk->enqueue([&] { d.desk->enqueue_beside([&] { d.work(); }); });
  };
  d.buffers().try_out(late);
  EXPECT_TRUE(contains(d.trouble_with(d.on_stream()), "y[0] changed after the stream had come to"));
  // And without a try: the outputs are compared twice.
  EXPECT_TRUE(contains(d.trouble_with(late), "'y' (d.toml:9) changed after the stream"));

  // What is right by then, and written again, was not waited for either.
  const Launch again = [&](Stream) {
    d.on_stream()(nullptr);
    d.desk->enqueue([&] { d.desk->enqueue_beside([&] { d.work(); }); });
  };
  d.buffers().try_out(again);
  EXPECT_TRUE(contains(d.trouble_with(d.on_stream()), "y[0] changed after the stream had come to"));

  // Where a stream cannot be held, its end tells all the same.
  d.desk->can_hold = false;
  d.buffers().try_out(late);
  EXPECT_TRUE(contains(d.trouble_with(d.on_stream()), "y[0] changed after the stream had come to"));
}

TEST(UserBuffers, TheFirstCallMayLoadAndWait) {
  Doubling d;
  d.expect(d.on_stream());
  int calls = 0;
  const auto waiting_in = [&](int last) -> Launch {
    return [&, last](Stream stream) {
      if (++calls > last) return d.on_stream()(stream);
      d.desk->wait_for_stream();
      d.work();
    };
  };
  d.buffers().try_out(waiting_in(1));
  EXPECT_TRUE(d.run(d.on_stream()).passed);
  calls = 0;
  d.buffers().try_out(waiting_in(2));
  EXPECT_FALSE(d.run(d.on_stream()).passed);
}

TEST(UserBuffers, EachRoundHasAnInputOfItsOwnAtAnotherPlace) {
  Doubling d;
  d.expect(d.on_stream());
  EXPECT_EQ(d.buffers().renewal().what, "new in every round");
  EXPECT_FALSE(d.buffers().renewal().warns);
  std::set<std::vector<float>> inputs;
  std::set<const float*> places;
  const auto look = [&] {
    d.buffers().reset(nullptr);
    d.desk->wait_for_stream();
    places.insert(d.x());
    inputs.insert({d.x(), d.x() + 100});
  };
  look();
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    d.buffers().renew(seed, true);
    look();
  }
  EXPECT_EQ(inputs.size(), 11u);
  EXPECT_EQ(places.size(), static_cast<std::size_t>(d.buffers().places()));
  const float* const last = d.x();
  d.buffers().renew(109, false);
  look();
  EXPECT_EQ(d.x(), last);
  EXPECT_EQ(inputs.size(), 11u) << "the same seed gives the same input";
  // The run that warms the caches has another one.
  EXPECT_TRUE(d.buffers().reset_for_hot_run(nullptr));
  d.desk->wait_for_stream();
  EXPECT_TRUE(inputs.insert({d.x(), d.x() + 100}).second);
}

TEST(UserBuffers, WhatARoundLeftIsJudgedByAReferenceThatRunsLater) {
  Doubling d;
  d.expect(d.on_stream());
  std::vector<float> first;
  const Launch replay = [&](Stream) {
    d.desk->enqueue([&] { std::copy(first.begin(), first.end(), d.y()); });
  };
  const auto keep = [&](int row, const Launch& launch) {
    d.buffers().reset(nullptr);
    launch(nullptr);
    d.desk->wait_for_stream();
    d.buffers().keep(row);
  };
  d.buffers().renew(99, true);
  keep(0, d.on_stream());
  first.assign(d.y(), d.y() + 100);
  keep(1, replay);
  EXPECT_TRUE(d.buffers().verify_kept(1)->passed) << "of this very input it is right";
  d.buffers().renew(101, true);
  keep(0, d.on_stream());
  keep(1, replay);
  keep(2, d.on_stream([&] { d.y()[102] = 1; }));
  d.buffers().renew(102, true);
  EXPECT_TRUE(d.buffers().verify_kept(0)->passed);
  const std::optional<Verdict> wrong = d.buffers().verify_kept(1);
  EXPECT_FALSE(wrong->passed);
  EXPECT_EQ(wrong->norm, "exact, on an input that is challenge 1 of --seed 100");
  EXPECT_TRUE(
      contains(d.buffers().verify_kept(2)->first_mismatches.front(), "wrote 4 bytes behind"));
  EXPECT_FALSE(d.buffers().verify_kept(2)) << "nothing is judged twice";
  d.buffers().pose(0);
  EXPECT_TRUE(d.run(d.on_stream()).passed);
}

/// Doubles what is in a file.
class DoublingOfFile {
 public:
  explicit DoublingOfFile(const std::vector<float>& data, const std::string& more = "") {
    write_text(file_, std::string(reinterpret_cast<const char*>(data.data()), 400));
    d.emplace("type = \"f32\"\nrole = \"output\"\n",
              "type = \"f32\"\nfile = \"" + file_ + "\"\n" + more);
    d->expect(d->on_stream());
  }
  std::vector<float> input() {
    d->buffers().reset(nullptr);
    d->desk->wait_for_stream();
    return {d->x(), d->x() + 100};
  }

 private:
  TemporaryFolder folder_{};
  std::string file_ = folder_ / "x.bin";

 public:
  std::optional<Doubling> d{};
};

TEST(UserBuffers, DataOfAFileChangeHereAndThereAndStaySorted) {
  std::vector<float> data(100);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  DoublingOfFile f(data);
  EXPECT_EQ(f.d->buffers().challenges(), 1);
  EXPECT_EQ(f.input(), data) << "verified as it is";
  std::set<std::vector<float>> inputs{data};
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    f.d->buffers().renew(seed, true);
    const std::vector<float> changed = f.input();
    EXPECT_TRUE(std::ranges::is_sorted(changed));
    inputs.insert(changed);
  }
  EXPECT_EQ(inputs.size(), 21u);
  f.d->buffers().pose(0);
  EXPECT_EQ(f.input(), data);
}

TEST(UserBuffers, SaysWhichInputsStay) {
  const std::vector<float> alike(100, 3);
  std::vector<float> data(100);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const auto said = [](DoublingOfFile&& f) {
    EXPECT_TRUE(f.d->buffers().renewal().warns);
    EXPECT_EQ(f.d->buffers().challenges(), 0);
    f.d->buffers().renew(100, true);
    f.d->buffers().keep(0);
    return f.d->buffers().renewal().what;
  };
  EXPECT_EQ(said(DoublingOfFile(alike)),
            "the same in every round: no input is drawn; 'x' stays as its file has it, whose "
            "elements are all alike");
  EXPECT_EQ(said(DoublingOfFile(data, "fixed = true\n")),
            "the same in every round: no input is drawn; 'x' stays as its file has it (fixed)");
  Doubling vain("type = \"f32\"\nrole = \"output\"\ntolerance = { absolute = 9 }\n");
  vain.expect(vain.on_stream());
  EXPECT_EQ(vain.buffers().renewal().what,
            "new in every round, in vain: the outputs of two inputs agree within the tolerance");
  EXPECT_TRUE(vain.buffers().renewal().warns);
}

TEST(UserBuffers, TolerancesAreTheBuffersOwn) {
  const auto off_by = [](Doubling& d, float off) {
    d.expect(d.on_stream());
    return d.run(d.on_stream([&d, off] { d.y()[3] += off; }));
  };
  Doubling absolute("type = \"f32\"\nrole = \"output\"\ntolerance = { absolute = 0.5 }\n");
  const Verdict within = off_by(absolute, 0.25F);
  EXPECT_TRUE(within.passed);
  EXPECT_EQ(within.norm, "max abs error");
  EXPECT_NEAR(within.error, 0.25, 1e-6);
  EXPECT_EQ(within.bound, 0.5);
  EXPECT_FALSE(off_by(absolute, 0.75F).passed);

  Doubling relative("type = \"f32\"\nrole = \"output\"\ntolerance = { relative = 0.01 }\n",
                    "type = \"f32\"\nfill = \"constant\"\nvalue = 50\n");
  EXPECT_TRUE(off_by(relative, 0.9F).passed) << "1 % of 100";
  EXPECT_EQ(off_by(relative, 0.9F).norm, "max abs error / max abs reference");
  EXPECT_FALSE(off_by(relative, 1.1F).passed);
  EXPECT_FALSE(off_by(relative, std::nanf("")).passed);
  EXPECT_FALSE(off_by(relative, INFINITY).passed);
  EXPECT_FALSE(relative.run([](Stream) {}).passed) << "poison is within no tolerance";
}

TEST(UserBuffers, IntegersHaveThePoisonThatTheyHaveLeastOf) {
  // -1 throughout, as integers of 0xFF bytes: an output that nobody writes must not pass for it.
  Doubling d("type = \"i32\"\nrole = \"output\"\n", "type = \"i32\"\nfill = \"index\"\n");
  const Launch ones = [&](Stream) { d.desk->enqueue([&] { std::memset(d.y(), 0xFF, 400); }); };
  d.expect(ones);
  EXPECT_TRUE(d.run(ones).passed);
  EXPECT_FALSE(d.run([](Stream) {}).passed);
}

TEST(UserBuffers, TheReferenceMustWriteAllAndTheSameTwice) {
  Doubling d;
  const Launch half = [&](Stream) { d.desk->enqueue([&] { std::memset(d.y(), 0, 200); }); };
  EXPECT_TRUE(contains(message_of<std::runtime_error>([&] { d.expect(half); }),
                       "d.toml:9: the reference old does not write 50 of the 100 elements of 'y', "
                       "the first at 50"));
  float each_time = 0;
  const Launch random = d.on_stream([&] { d.y()[4] = ++each_time; });
  EXPECT_TRUE(
      contains(message_of<std::runtime_error>([&] { d.expect(random); }), "not the same in two"));
  const Launch nan = [&](Stream) { d.desk->enqueue([&] { std::memset(d.y(), 0xFF, 400); }); };
  EXPECT_TRUE(contains(message_of<std::runtime_error>([&] { d.expect(nan); }), "NaN throughout"));
}

/// A device whose answers are members, and which counts what it is asked.
struct TriedDevice {
  std::vector<DoneTimes> until_done{{1, 1.005}};
  DoneTimes idle{0.01, 0.014};
  std::vector<double> run_ms{0.5}, nothing_ms{0.002};
  int done = 0, runs = 0, nothing = 0, held = 0;

  TrialOutcome outcome() {
    const auto next = [](const auto& list, int& calls) {
      return list[static_cast<std::size_t>(calls++) % list.size()];
    };
    TrialSteps steps;
    steps.passes_untouched = [] { return false; };
    steps.until_done = [this, next](bool launched) {
      return launched ? next(until_done, done) : idle;
    };
    steps.returns_while_held = [] { return true; };
    steps.time = [this, next](bool is_held) {
      held += is_held;
      return next(run_ms, runs);
    };
    steps.time_of_nothing = [this, next] { return next(nothing_ms, nothing); };
    return try_out(steps, true);
  }
};

TEST(Trial, FindsWhatMustNotBeTimed) {
  std::vector<double> two_disturbed(21, 0.002);
  two_disturbed[3] = two_disturbed[11] = 7;
  TriedDevice right, outlasting, once_without, slow_to_wait, nothing, disturbed;
  outlasting.until_done = {{1, 1.9}, {1, 1.4}, {1, 1.5}};
  once_without.until_done = {{9, 12}, {1, 1.004}, {1, 1.5}};  // so it is not the launch
  slow_to_wait.until_done = {{1, 1.2}};
  slow_to_wait.idle = {0.01, 0.2};
  nothing.run_ms = nothing.nothing_ms = {0.0021, 0.0019, 0.002};
  disturbed.run_ms = {0.0045};
  disturbed.nothing_ms = two_disturbed;
  const std::pair<TriedDevice*, const char*> cases[] = {
      {&right, ""},        {&outlasting, "goes on for 0.396 ms"},
      {&once_without, ""}, {&slow_to_wait, ""},
      {&disturbed, ""},    {&nothing, "no longer than nothing"}};
  for (const auto& [device, says] : cases) {
    const std::string objection = device->outcome().objection;
    EXPECT_TRUE(contains(objection, says)) << objection;
    EXPECT_EQ(objection.empty(), std::string(says).empty()) << objection;
    EXPECT_EQ(device->held, device->runs);
  }
}

}  // namespace
}  // namespace amasia
