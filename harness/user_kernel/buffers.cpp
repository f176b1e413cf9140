#include "harness/user_kernel/buffers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/text/file.hpp"
#include "inputs/random.hpp"
#include "inputs/sizes.hpp"

namespace amasia {
namespace {

using Bytes = std::vector<std::byte>;

/// As a float -6328: what is read from beyond a buffer spoils a result, as zeros might not.
constexpr unsigned char guard_byte = 0xC5;
/// NaN in every floating-point type.
constexpr unsigned char nan_byte = 0xFF;
/// Finite in every floating-point type, and far from what anybody computes.
constexpr unsigned char second_poison = 0x7B;
constexpr std::size_t most_mismatches_told = 5;
/// Long enough for a kernel that waits for nobody to start, and to write something.
constexpr std::chrono::milliseconds held_for(30);
/// A call that waits for its stream returns when that is not held any longer, after a second.
constexpr std::chrono::milliseconds waits_for_the_stream(900);
/// Of what is free once the buffers are there, an implementation may take this share for itself:
/// the others need as much.
constexpr std::size_t share_of_memory = 2;
/// Below this the driver's own bookkeeping would be taken for a leak.
constexpr std::size_t least_leak = 1 << 20;

/// What a fill gives that is the same for every seed.
Bytes generated(const BufferDescription& b, std::size_t count) {
  Bytes data(count * bytes_of(b.type));  // zeros
  for (std::size_t i = 0; i < count && b.fill != Fill::zero; ++i) {
    if (b.fill == Fill::index) {
      set_element(b.type, data.data(), i, static_cast<std::int64_t>(i));
    } else {
      set_element(b.type, data.data(), i, b.low);
    }
  }
  return data;
}

/// A file of exactly so many bytes, raw and little-endian.
Bytes content_of(const std::string& file, std::size_t bytes, const std::string& place,
                 const std::string& what) {
  InputFile in(file, place);
  in.expect_size(bytes, what);
  Bytes data(bytes);
  in.read(reinterpret_cast<char*>(data.data()), bytes);
  return data;
}

std::string text_of_element(ElementType type, const std::byte* data, std::size_t i) {
  if (type == ElementType::i64 || type == ElementType::u64) {  // a double would round them
    std::uint64_t bits = 0;
    std::memcpy(&bits, data + 8 * i, sizeof bits);
    return type == ElementType::u64 ? fmt::format("{}", bits)
                                    : fmt::format("{}", static_cast<std::int64_t>(bits));
  }
  return fmt::format("{:.9g}", element_at(type, data, i));
}

/// How far two values are apart; infinite where one is not finite and the other is not the same.
double distance(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  const double d = std::abs(got - expected);
  return std::isfinite(d) ? d : std::numeric_limits<double>::infinity();
}

struct Differences {
  double error = 0;  // in the buffer's norm
  std::int64_t mismatches = 0;
  std::vector<std::size_t> first{};  // elements
};

Differences differences(const BufferDescription& b, std::size_t count, const Bytes& got,
                        const Bytes& expected) {
  Differences result;
  if (got == expected) return result;
  const std::size_t each = bytes_of(b.type);
  double scale = 1;
  if (b.norm == Norm::relative) {
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double value = std::abs(element_at(b.type, expected.data(), i));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    if (largest > 0) scale = largest;  // of zeros alone, the error is absolute
  }
  const double bound = b.norm == Norm::exact ? 0 : b.tolerance;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::memcmp(got.data() + i * each, expected.data() + i * each, each) == 0) continue;
    double error =
        distance(element_at(b.type, got.data(), i), element_at(b.type, expected.data(), i)) / scale;
    // Two integers of 64 bits may differ and be one double.
    if (error == 0 && !is_float(b.type)) error = std::numeric_limits<double>::min();
    result.error = std::max(result.error, error);
    if (error <= bound) continue;
    ++result.mismatches;
    if (result.first.size() < most_mismatches_told) result.first.push_back(i);
  }
  return result;
}

/// In the order of Norm.
constexpr const char* norm_texts[] = {"exact", "max abs error / max abs reference",
                                      "max abs error"};

/// The byte that an output has least of: an element that was not written can hardly be right.
unsigned char rarest_byte(const Bytes& data) {
  std::array<std::size_t, 256> seen{};
  for (const std::byte b : data) ++seen[std::to_integer<std::size_t>(b)];
  // From above, because small numbers have zeros in their upper bytes.
  const auto rarest = std::min_element(seen.rbegin(), seen.rend());
  return static_cast<unsigned char>(std::distance(rarest, seen.rend()) - 1);
}

/// Whether another input can be judged: what a file expects is right for one alone.
bool may_change(const Description& d) {
  return std::ranges::all_of(d.buffers,
                             [](const BufferDescription& b) { return b.expected.empty(); });
}

bool is_altered(const Description& d, const BufferDescription& b) {
  return is_read(b.role) && !b.file.empty() && !b.fixed && may_change(d);
}

constexpr int places_of_a_buffer = 3;
constexpr std::size_t between_places = slack_bytes / (places_of_a_buffer - 1);

}  // namespace

std::int64_t buffer_bytes(const Description& d, const Parameters& parameters) {
  std::int64_t total = 0;
  for (const BufferDescription& b : d.buffers) {
    const std::int64_t count = d.value(b.count, parameters, 1);
    std::int64_t bytes = 0;
    try {
      bytes = checked_product({count, static_cast<std::int64_t>(bytes_of(b.type))}, "a buffer");
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", d.place(b.count.line), error.what()));
    }
    std::int64_t beside = 2 * guard_bytes + slack_bytes;
    const int copies = 1 + is_read(b.role) + is_altered(d, b);
    for (int copy = 0; copy < copies; ++copy) {
      if (__builtin_add_overflow(total, bytes, &total) ||
          __builtin_add_overflow(total, beside, &total)) {
        throw UsageError(fmt::format("{}: the buffers have more than 2^63 bytes together",
                                     d.place(b.count.line)));
      }
      beside = 2 * guard_bytes;
    }
  }
  return total;
}

std::byte* UserBuffers::Buffer::image() const {
  return memory.get() + static_cast<std::size_t>(place) * between_places;
}

bool UserBuffers::Buffer::is_drawn() const {
  return is_read() && about->file.empty() && about->fill == Fill::uniform;
}

UserBuffers::UserBuffers(Description description, Parameters parameters, std::uint64_t seed,
                         std::unique_ptr<Machine> machine)
    : description_(std::move(description)),
      parameters_(std::move(parameters)),
      machine_(std::move(machine)),
      seed_(seed) {
  for (const BufferDescription& b : description_.buffers) allocate(b);
  for (Buffer& buffer : buffers_) fill_pristine(buffer);
  renewal_ = what_changes();
  // One more input, so that an output that is kept from an earlier run is found.
  expected_.assign(changes_ ? 2 : 1, Contents(buffers_.size()));
  pose(0);
}

void UserBuffers::allocate(const BufferDescription& about) {
  Buffer buffer;
  buffer.about = &about;
  buffer.count = static_cast<std::size_t>(description_.value(about.count, parameters_, 1));
  buffer.bytes = buffer.count * bytes_of(about.type);
  buffer.stream = buffers_.size();
  buffer.memory = machine_->allocate(buffer.bytes + 2 * guard_bytes + slack_bytes);
  if (buffer.is_read()) buffer.pristine = machine_->allocate(buffer.bytes + 2 * guard_bytes);
  if (is_altered(description_, about)) buffer.original = machine_->allocate(buffer.bytes);
  if (about.role == BufferRole::in_place) repeatable_ = false;
  buffers_.push_back(std::move(buffer));
}

void UserBuffers::fill_pristine(Buffer& buffer) {
  if (!buffer.is_read()) return;
  const BufferDescription& b = *buffer.about;
  machine_->fill(buffer.pristine.get(), guard_byte, buffer.bytes + 2 * guard_bytes,
                 machine_->stream());
  machine_->wait_for_stream();
  if (buffer.is_drawn()) return;
  const Bytes data = b.file.empty() ? generated(b, buffer.count)
                                    : content_of(b.file, buffer.bytes, description_.place(b.line),
                                                 fmt::format("buffer '{}'", b.name));
  machine_->upload(buffer.pristine.get() + guard_bytes, data.data(), data.size());
  if (!buffer.original) return;
  machine_->upload(buffer.original.get(), data.data(), data.size());
  put_input(buffer, buffer.pristine.get() + guard_bytes, seed_ + 1, machine_->stream());
  machine_->wait_for_stream();
  Bytes altered(buffer.bytes);
  machine_->download(altered.data(), buffer.pristine.get() + guard_bytes, altered.size());
  if (altered == data) buffer.original.reset();  // neighbours are alike
}

Renewal UserBuffers::what_changes() {
  if (!may_change(description_)) {
    return {"the same in every round: what is expected in a file is right for one input", true};
  }
  std::string stays;
  for (const Buffer& buffer : buffers_) {
    changes_ = changes_ || buffer.is_drawn() || buffer.original;
    if (!buffer.is_read() || buffer.about->file.empty() || buffer.original) continue;
    stays += fmt::format("; '{}' stays as its file has it{}", buffer.about->name,
                         buffer.about->fixed ? " (fixed)" : ", whose elements are all alike");
  }
  if (changes_) return {"new in every round" + stays, false};
  return {"the same in every round: no input is drawn" + stays, true};
}

void UserBuffers::put_input(const Buffer& buffer, std::byte* data, std::uint64_t seed,
                            Stream stream) {
  const BufferDescription& b = *buffer.about;
  if (buffer.is_drawn()) {
    machine_->draw(data, {b.type, buffer.count, b.low, b.high, seed, buffer.stream}, stream);
  } else if (buffer.original) {
    machine_->copy(data, buffer.original.get(), buffer.bytes, stream);
    if (seed == seed_) return;  // the first input is the file
    machine_->alter(data, {bytes_of(b.type), buffer.count, seed, buffer.stream}, stream);
  }
}

void UserBuffers::set_inputs(std::uint64_t seed) {
  input_seed_ = seed;
  for (const Buffer& buffer : buffers_) {
    if (buffer.is_read()) {
      put_input(buffer, buffer.pristine.get() + guard_bytes, seed, machine_->stream());
    }
  }
  machine_->wait_for_stream();
}

void UserBuffers::pose(int challenge) {
  input_ = static_cast<std::size_t>(challenge);
  set_inputs(seed_ + input_);
}

void UserBuffers::renew(std::uint64_t seed, bool move) {
  for (Buffer& buffer : buffers_) {
    if (move) buffer.place = (buffer.place + 1) % places_of_a_buffer;
  }
  if (changes_) set_inputs(seed);
}

int UserBuffers::places() const { return places_of_a_buffer; }

void UserBuffers::restore(const Buffer& buffer, Stream stream) const {
  if (buffer.is_read()) {
    machine_->copy(buffer.image(), buffer.pristine.get(), buffer.bytes + 2 * guard_bytes, stream);
    return;
  }
  machine_->fill(buffer.image(), guard_byte, guard_bytes, stream);
  machine_->fill(buffer.data(), buffer.poison, buffer.bytes, stream);
  machine_->fill(buffer.data() + buffer.bytes, guard_byte, guard_bytes, stream);
}

void UserBuffers::reset(Stream stream) {
  for (const Buffer& buffer : buffers_) restore(buffer, stream);
}

bool UserBuffers::reset_for_hot_run(Stream stream) {
  reset(stream);
  if (!changes_) return true;
  const std::uint64_t another = mix64(input_seed_);
  for (const Buffer& buffer : buffers_) {
    if (buffer.is_read()) put_input(buffer, buffer.data(), another, stream);
  }
  return true;
}

UserBuffers::Contents UserBuffers::outputs() const {
  Contents all;
  for (const Buffer& buffer : buffers_) {
    Bytes& bytes = all.emplace_back();
    if (!buffer.is_judged()) continue;
    bytes.resize(buffer.bytes);
    machine_->download(bytes.data(), buffer.data(), bytes.size());
  }
  return all;
}

void UserBuffers::run(const Launch& launch) {
  reset(machine_->stream());
  launch(machine_->stream());
  machine_->wait_for_stream();
  machine_->wait_for_everything();
}

UserBuffers::Contents UserBuffers::expected_now() {
  const bool needed = std::ranges::any_of(
      buffers_, [](const Buffer& b) { return b.is_judged() && b.about->expected.empty(); });
  const std::vector<Buffer> poisoned_otherwise = buffers_;
  const auto outputs_on = [&](unsigned char poison) {
    if (!needed) return Contents(buffers_.size());
    for (Buffer& buffer : buffers_) buffer.poison = poison;
    run(reference_);
    return outputs();
  };
  Contents expected = outputs_on(nan_byte);
  const Contents second = outputs_on(second_poison);
  buffers_ = poisoned_otherwise;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    const BufferDescription& b = *buffer.about;
    if (!buffer.is_judged()) continue;
    if (!b.expected.empty()) {
      expected[i] = content_of(b.expected, buffer.bytes, description_.place(b.line),
                               fmt::format("what is expected in '{}'", b.name));
    }
    check_expected(buffer, expected[i], b.expected.empty() ? second[i] : expected[i]);
  }
  return expected;
}

void UserBuffers::check_expected(const Buffer& buffer, const Bytes& expected,
                                 const Bytes& second) const {
  const BufferDescription& b = *buffer.about;
  const Differences between = differences(b, buffer.count, second, expected);
  if (between.mismatches > 0) {
    throw std::runtime_error(fmt::format(
        "{}: the reference {} does not write {} of the {} elements of '{}', the first at {}, "
        "or not the same in two runs. Give the buffer a tolerance, or the role 'in place' if "
        "part of it stays unwritten{}",
        description_.place(b.line), reference_name_, between.mismatches, buffer.count, b.name,
        between.first.front(), hint_at_altered_files()));
  }
  if (!is_float(b.type)) return;
  for (std::size_t e = 0; e < buffer.count; ++e) {
    if (!std::isnan(element_at(b.type, expected.data(), e))) return;
  }
  throw std::runtime_error(
      fmt::format("{}: what is expected in '{}' is NaN throughout: nothing can be verified{}",
                  description_.place(b.line), b.name, hint_at_altered_files()));
}

std::string UserBuffers::hint_at_altered_files() const {
  for (const Buffer& buffer : buffers_) {
    if (!buffer.original || input_seed_ == seed_) continue;
    return fmt::format(
        "; it was run on '{}' ({}) with some elements changed: write fixed = true if its file must "
        "stay as it is",
        buffer.about->name, description_.place(buffer.about->line));
  }
  return "";
}

void UserBuffers::expect_outputs_of(Launch reference, const std::string& name) {
  reference_ = std::move(reference);
  reference_name_ = name;
  for (std::size_t c = expected_.size(); c-- > 0;) {  // the timed input comes last, stays posed
    pose(static_cast<int>(c));
    expected_[c] = expected_now();
  }
  bool all_alike = expected_.size() > 1;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    Buffer& buffer = buffers_[i];
    const BufferDescription& b = *buffer.about;
    const Bytes& expected = expected_.front()[i];
    const bool is_integer = buffer.is_judged() && !is_float(b.type);
    buffer.poison = is_integer ? rarest_byte(expected) : nan_byte;
    all_alike =
        all_alike && (!buffer.is_judged() ||
                      differences(b, buffer.count, expected_.back()[i], expected).mismatches == 0);
  }
  if (all_alike) {
    renewal_.what += ", in vain: the outputs of two inputs agree within the tolerance";
    renewal_.warns = true;
  }
}

std::string UserBuffers::changed_between(const Contents& before, const Contents& after) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const auto [a, b] = std::mismatch(before[i].begin(), before[i].end(), after[i].begin());
    if (a == before[i].end()) continue;
    const auto at = static_cast<std::size_t>(std::distance(before[i].begin(), a));
    const BufferDescription& about = *buffers_[i].about;
    return fmt::format("{}[{}]", about.name, at / bytes_of(about.type));
  }
  return "";
}

std::string UserBuffers::work_beside(const Launch& launch) {
  using Clock = std::chrono::steady_clock;
  reset(machine_->stream());
  machine_->wait_for_everything();
  const Contents before = outputs();
  const bool held = machine_->hold();
  const auto begin = Clock::now();
  try {
    launch(machine_->stream());
    // In the order of the stream, right behind the run: writes from then on stay, whichever stream
    // was faster.
    for (const Buffer& b : buffers_) {
      if (b.is_judged()) restore(b, machine_->stream());
    }
  } catch (...) {
    machine_->release();
    throw;
  }
  if (held) {
    const bool waited = Clock::now() - begin > waits_for_the_stream;
    std::this_thread::sleep_for(held_for);
    const std::string early = changed_between(before, outputs());
    // Outputs of many gigabytes take longer to read than a stream can be held: they say nothing.
    const bool in_time = machine_->release();
    if (waited && !in_time) {
      return "it waits for the GPU while it enqueues, not only in its first call: what it "
             "allocates or loads must stay, and nothing may synchronise";
    }
    if (!early.empty() && in_time) {
      return fmt::format(
          "{} changed while the stream was held back: it works on another stream, which nobody "
          "times; enqueue everything on the stream that it is given",
          early);
    }
  }
  machine_->wait_for_everything();
  const std::string late = changed_between(before, outputs());
  if (late.empty()) return "";
  return fmt::format(
      "{} changed after the stream had come to its end: it works on another stream, which nobody "
      "times; make the stream wait for it (cudaStreamWaitEvent)",
      late);
}

void UserBuffers::try_again(const Launch& launch) {
  if (input_ == 0) trouble_ = work_beside(launch);  // once for all inputs
}

void UserBuffers::try_out(const Launch& launch) const {
  auto& self = const_cast<UserBuffers&>(*this);  // the buffers are, and none of them stays as it is
  trouble_.clear();
  const std::size_t free_at_first = machine_->free_bytes();
  self.run(launch);
  const std::size_t taken = free_at_first - std::min(free_at_first, machine_->free_bytes());
  trouble_ = self.work_beside(launch);
  if (trouble_.empty() && taken > free_at_first / share_of_memory) {
    trouble_ = fmt::format(
        "it took {} of the {} bytes of device memory that were free: the others need as much",
        taken, free_at_first);
  }
  const std::size_t free_before_runs = machine_->free_bytes();
  std::size_t free_before_run = free_before_runs, leaks = 0;
  constexpr std::size_t more_runs = 2;
  for (std::size_t i = 0; i < more_runs && trouble_.empty(); ++i) {
    self.run(launch);
    const std::size_t now = machine_->free_bytes();
    if (now + least_leak <= free_before_run) ++leaks;
    free_before_run = now;
  }
  if (leaks == more_runs) {
    trouble_ =
        fmt::format("each run takes device memory that it does not give back, {} bytes in {} runs",
                    free_before_runs - free_before_run, more_runs);
  }
}

void UserBuffers::check_untouched(const Buffer& buffer, const Bytes& image,
                                  std::vector<std::string>& damage) const {
  const BufferDescription& b = *buffer.about;
  const auto touched = [](std::byte value) { return value != std::byte{guard_byte}; };
  const auto begin = image.begin() + guard_bytes;
  const auto end = begin + static_cast<std::ptrdiff_t>(buffer.bytes);
  const auto bytes = [](std::ptrdiff_t count) {
    return count == 1 ? std::string("1 byte") : fmt::format("{} bytes", count);
  };
  if (const auto before = std::count_if(image.begin(), begin, touched); before > 0) {
    const auto back = std::make_reverse_iterator(begin);
    const auto last = std::find_if(back, image.rend(), touched);
    damage.push_back(fmt::format("wrote {} before the begin of '{}' ({}), up to byte -{}",
                                 bytes(before), b.name, description_.place(b.line),
                                 std::distance(back, last) + 1));
  }
  if (const auto behind = std::count_if(end, image.end(), touched); behind > 0) {
    damage.push_back(fmt::format("wrote {} behind the end of '{}' ({}), from byte {} on",
                                 bytes(behind), b.name, description_.place(b.line),
                                 std::distance(end, std::find_if(end, image.end(), touched))));
  }
  if (b.role != BufferRole::input) return;
  Bytes given(buffer.bytes);
  machine_->download(given.data(), buffer.pristine.get() + guard_bytes, given.size());
  const auto [was, is] = std::mismatch(given.begin(), given.end(), begin);
  if (was != given.end()) {
    damage.push_back(fmt::format(
        "wrote into the input '{}' ({}) at {}", b.name, description_.place(b.line),
        static_cast<std::size_t>(std::distance(given.begin(), was)) / bytes_of(b.type)));
  }
}

void UserBuffers::check(const Buffer& buffer, const Bytes& got, const Bytes& expected,
                        Verdict& verdict) const {
  const BufferDescription& b = *buffer.about;
  const Differences found = differences(b, buffer.count, got, expected);
  verdict.checked += static_cast<std::int64_t>(buffer.count);
  verdict.mismatches += found.mismatches;
  const double bound = b.norm == Norm::exact ? 0 : b.tolerance;
  // What is told is the output that is farthest from its bound, or nearest to it.
  const auto excess = [](double error, double most) {
    return most > 0 ? error / most : (error > 0 ? std::numeric_limits<double>::infinity() : 0);
  };
  if (verdict.norm.empty() || excess(found.error, bound) > excess(verdict.error, verdict.bound)) {
    verdict.norm = norm_texts[static_cast<std::size_t>(b.norm)];
    verdict.error = found.error;
    verdict.bound = bound;
  }
  for (const std::size_t i : found.first) {
    if (verdict.first_mismatches.size() >= most_mismatches_told) break;
    const bool poisoned =
        b.role == BufferRole::output &&
        std::all_of(got.begin() + static_cast<std::ptrdiff_t>(i * bytes_of(b.type)),
                    got.begin() + static_cast<std::ptrdiff_t>((i + 1) * bytes_of(b.type)),
                    [&](std::byte value) { return value == std::byte{buffer.poison}; });
    verdict.first_mismatches.push_back(
        fmt::format("{}[{}]: {}, expected {}", b.name, i,
                    poisoned ? "not written" : "got " + text_of_element(b.type, got.data(), i),
                    text_of_element(b.type, expected.data(), i)));
  }
}

UserBuffers::Left UserBuffers::what_is_left() {
  Left left;
  Contents at_end = outputs();
  machine_->wait_for_everything();
  if (!trouble_.empty()) left.damage.push_back(std::exchange(trouble_, {}));
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    Bytes image(buffer.bytes + 2 * guard_bytes);
    machine_->download(image.data(), buffer.image(), image.size());
    check_untouched(buffer, image, left.damage);
    if (!buffer.is_judged() || !left.damage.empty()) continue;
    if (!std::equal(at_end[i].begin(), at_end[i].end(), image.begin() + guard_bytes)) {
      left.damage.push_back(fmt::format("'{}' ({}) changed after the stream had come to its end",
                                        buffer.about->name,
                                        description_.place(buffer.about->line)));
    }
  }
  left.outputs = std::make_shared<const Contents>(std::move(at_end));
  return left;
}

Verdict UserBuffers::judged(const Left& left, const Contents& expected) const {
  Verdict verdict;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].is_judged()) check(buffers_[i], (*left.outputs)[i], expected[i], verdict);
  }
  const std::vector<std::string>& damage = left.damage;
  verdict.passed = verdict.mismatches == 0 && damage.empty();
  // Faults beyond single values are reported first.
  verdict.first_mismatches.insert(verdict.first_mismatches.begin(), damage.begin(), damage.end());
  if (verdict.first_mismatches.size() > most_mismatches_told) {
    verdict.first_mismatches.resize(most_mismatches_told);
  }
  return verdict;
}

Verdict UserBuffers::verify() { return judged(what_is_left(), expected_[input_]); }

void UserBuffers::keep(int row) {
  Kept kept{input_seed_, what_is_left()};
  // Most are alike to the last bit, and each may have gigabytes.
  for (const auto& [other, known] : kept_) {
    if (known.seed == kept.seed && *known.left.outputs == *kept.left.outputs) {
      kept.left.outputs = known.left.outputs;
      break;
    }
  }
  kept_[row] = std::move(kept);
}

std::optional<Verdict> UserBuffers::verify_kept(int row) {
  const auto found = kept_.find(row);
  if (found == kept_.end()) return std::nullopt;
  const Kept kept = std::move(found->second);
  kept_.erase(found);
  if (!changes_) return judged(kept.left, expected_.front());
  if (!expected_of_kept_ || expected_of_kept_->first != kept.seed) {
    set_inputs(kept.seed);
    expected_of_kept_.emplace(kept.seed, expected_now());
  }
  Verdict verdict = judged(kept.left, expected_of_kept_->second);
  if (!verdict.passed) {
    verdict.norm += fmt::format(", on an input that is challenge 1 of --seed {}", kept.seed - 1);
  }
  return verdict;
}

}  // namespace amasia
