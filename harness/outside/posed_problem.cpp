#include "harness/outside/posed_problem.hpp"

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
#include "harness/text/input_file.hpp"
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
/// Of what is free once the buffers are there, an implementation may take this share for itself:
/// the others need as much.
constexpr std::size_t share_of_memory = 2;
/// Below this the driver's own bookkeeping would be taken for a leak.
constexpr std::size_t least_leak = 1 << 20;

Bytes generated(const BufferDescription& b, std::size_t count, std::uint64_t seed,
                std::uint64_t stream) {
  Bytes data(count * bytes_of(b.type));
  for (std::size_t i = 0; i < count; ++i) {
    switch (b.fill) {
      case Fill::zero:
        break;  // as it is
      case Fill::constant:
        set_element(b.type, data.data(), i, b.low);
        break;
      case Fill::index:
        set_element(b.type, data.data(), i, static_cast<std::int64_t>(i));
        break;
      case Fill::uniform:
        if (is_float(b.type)) {
          set_element(b.type, data.data(), i,
                      b.low + (b.high - b.low) * double{random_unit(seed, stream, i)});
        } else {
          const auto values = static_cast<std::uint64_t>(b.high - b.low) + 1;
          // 2^32 values are all that a draw has.
          const std::uint32_t drawn =
              values > UINT32_MAX
                  ? random_bits(seed, stream, i)
                  : random_below(seed, stream, i, static_cast<std::uint32_t>(values));
          set_element(b.type, data.data(), i, static_cast<std::int64_t>(b.low) + drawn);
        }
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

std::string norm_text(Norm norm) {
  switch (norm) {
    case Norm::exact:
      return "exact";
    case Norm::relative:
      return "max abs error / max abs reference";
    case Norm::absolute:
      break;
  }
  return "max abs error";
}

/// The byte that an output has least of: an element that was not written can hardly be right.
unsigned char rarest_byte(const Bytes& data) {
  std::array<std::size_t, 256> seen{};
  for (const std::byte b : data) ++seen[std::to_integer<std::size_t>(b)];
  // From above, because small numbers have zeros in their upper bytes.
  const auto rarest = std::min_element(seen.rbegin(), seen.rend());
  return static_cast<unsigned char>(std::distance(rarest, seen.rend()) - 1);
}

}  // namespace

std::int64_t posed_bytes(const Description& d, const Parameters& parameters) {
  std::int64_t total = 0;
  for (const BufferDescription& b : d.buffers) {
    const std::int64_t count = d.value(b.count, parameters, 1);
    const bool kept = b.role == BufferRole::input || b.role == BufferRole::in_place;
    std::int64_t bytes = 0;
    try {
      bytes = checked_product({count, static_cast<std::int64_t>(bytes_of(b.type))}, "a buffer");
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", d.place(b.count.line), error.what()));
    }
    for (int copies = kept ? 2 : 1; copies > 0; --copies) {
      if (__builtin_add_overflow(total, bytes, &total) ||
          __builtin_add_overflow(total, std::int64_t{2 * guard_bytes}, &total)) {
        throw UsageError(fmt::format("{}: the buffers have more than 2^63 bytes together",
                                     d.place(b.count.line)));
      }
    }
  }
  return total;
}

bool PosedProblem::Buffer::is_read() const {
  return about->role == BufferRole::input || about->role == BufferRole::in_place;
}

bool PosedProblem::Buffer::is_judged() const {
  return about->role == BufferRole::output || about->role == BufferRole::in_place;
}

PosedProblem::PosedProblem(Description description, Parameters parameters, std::uint64_t seed,
                           std::unique_ptr<Machine> machine)
    : description_(std::move(description)),
      parameters_(std::move(parameters)),
      machine_(std::move(machine)) {
  bool drawn = false;     // other inputs can be drawn from another seed
  bool recorded = false;  // what a file expects is right for the timed input alone
  for (const BufferDescription& b : description_.buffers) {
    Buffer buffer;
    buffer.about = &b;
    buffer.count = static_cast<std::size_t>(description_.value(b.count, parameters_, 1));
    buffer.bytes = buffer.count * bytes_of(b.type);
    buffer.memory = machine_->allocate(buffer.bytes + 2 * guard_bytes);
    if (buffer.is_read()) buffer.pristine = machine_->allocate(buffer.bytes + 2 * guard_bytes);
    if (b.role == BufferRole::in_place) repeatable_ = false;
    drawn = drawn || (buffer.is_read() && b.file.empty() && b.fill == Fill::uniform);
    recorded = recorded || !b.expected.empty();
    buffers_.push_back(std::move(buffer));
  }
  // One more input, so that an output that is kept from an earlier run is found.
  cases_.resize(drawn && !recorded ? 2 : 1);
  for (std::size_t c = 0; c < cases_.size(); ++c) {
    Case& one = cases_[c];
    one.seed = seed + c;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const Buffer& buffer = buffers_[i];
      const BufferDescription& b = *buffer.about;
      Bytes given;
      if (buffer.is_read()) {
        given = b.file.empty() ? generated(b, buffer.count, one.seed, i)
                               : content_of(b.file, buffer.bytes, description_.place(b.line),
                                            fmt::format("buffer '{}'", b.name));
      }
      one.given.push_back(std::move(given));
      one.expected.emplace_back();
    }
  }
  pose(0);
}

void PosedProblem::pose(int challenge) {
  posed_ = static_cast<std::size_t>(challenge);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    if (!buffer.is_read()) continue;
    Bytes image(buffer.bytes + 2 * guard_bytes, std::byte{guard_byte});
    std::copy(cases_[posed_].given[i].begin(), cases_[posed_].given[i].end(),
              image.begin() + guard_bytes);
    machine_->upload(buffer.pristine.get(), image.data(), image.size());
  }
}

void PosedProblem::reset(Stream stream) {
  for (const Buffer& buffer : buffers_) {
    if (buffer.is_read()) {
      machine_->copy(buffer.memory.get(), buffer.pristine.get(), buffer.bytes + 2 * guard_bytes,
                     stream);
      continue;
    }
    machine_->fill(buffer.memory.get(), guard_byte, guard_bytes, stream);
    machine_->fill(buffer.data(), buffer.poison, buffer.bytes, stream);
    machine_->fill(buffer.data() + buffer.bytes, guard_byte, guard_bytes, stream);
  }
}

std::vector<std::byte> PosedProblem::image_of(const Buffer& buffer) const {
  Bytes image(buffer.bytes + 2 * guard_bytes);
  machine_->download(image.data(), buffer.memory.get(), image.size());
  return image;
}

std::vector<std::vector<std::byte>> PosedProblem::outputs() const {
  std::vector<Bytes> all;
  for (const Buffer& buffer : buffers_) {
    Bytes& bytes = all.emplace_back();
    if (!buffer.is_judged()) continue;
    bytes.resize(buffer.bytes);
    machine_->download(bytes.data(), buffer.data(), bytes.size());
  }
  return all;
}

std::vector<std::vector<std::byte>> PosedProblem::outputs_of_run(const Launch& launch) {
  reset(machine_->stream());
  launch(machine_->stream());
  machine_->wait_for_stream();
  machine_->wait_for_everything();
  return outputs();
}

void PosedProblem::expect_outputs_of(const Launch& reference, const std::string& name) {
  for (std::size_t c = cases_.size(); c-- > 0;) {  // the timed input comes last, and stays posed
    pose(static_cast<int>(c));
    const bool needed = std::any_of(buffers_.begin(), buffers_.end(), [](const Buffer& b) {
      return b.is_judged() && b.about->expected.empty();
    });
    std::vector<Bytes> first(buffers_.size()), second(buffers_.size());
    if (needed) {
      for (Buffer& buffer : buffers_) buffer.poison = nan_byte;
      first = outputs_of_run(reference);
      for (Buffer& buffer : buffers_) buffer.poison = second_poison;
      second = outputs_of_run(reference);
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      Buffer& buffer = buffers_[i];
      if (!buffer.is_judged()) continue;
      const BufferDescription& b = *buffer.about;
      Bytes expected = b.expected.empty()
                           ? first[i]
                           : content_of(b.expected, buffer.bytes, description_.place(b.line),
                                        fmt::format("what is expected in '{}'", b.name));
      if (b.expected.empty()) {
        const Differences between = differences(b, buffer.count, second[i], first[i]);
        if (between.mismatches > 0) {
          throw std::runtime_error(fmt::format(
              "{}: the reference {} does not write {} of the {} elements of '{}', the first at {}, "
              "or not the same in two runs: give the buffer a tolerance, or the role 'in place' if "
              "some of it is to stay",
              description_.place(b.line), name, between.mismatches, buffer.count, b.name,
              between.first.front()));
        }
      }
      if (is_float(b.type)) {
        bool any_number = false;
        for (std::size_t e = 0; e < buffer.count && !any_number; ++e) {
          any_number = !std::isnan(element_at(b.type, expected.data(), e));
        }
        if (!any_number) {
          throw std::runtime_error(
              fmt::format("{}: what is expected in '{}' is NaN throughout: nothing can be verified",
                          description_.place(b.line), b.name));
        }
      }
      buffer.poison = is_float(b.type) ? nan_byte : rarest_byte(expected);
      cases_[c].expected[i] = std::move(expected);
    }
  }
  for (Buffer& buffer : buffers_) {
    if (!buffer.is_judged()) buffer.poison = nan_byte;
  }
}

std::string PosedProblem::changed_between(const std::vector<Bytes>& before,
                                          const std::vector<Bytes>& after) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const auto [a, b] = std::mismatch(before[i].begin(), before[i].end(), after[i].begin());
    if (a == before[i].end()) continue;
    const auto at = static_cast<std::size_t>(std::distance(before[i].begin(), a));
    const BufferDescription& about = *buffers_[i].about;
    return fmt::format("{}[{}]", about.name, at / bytes_of(about.type));
  }
  return "";
}

void PosedProblem::try_out(const Launch& launch) const {
  auto& self =
      const_cast<PosedProblem&>(*this);  // the buffers are, and none of them stays as it is
  trouble_.clear();
  self.reset(machine_->stream());
  machine_->wait_for_everything();
  const std::vector<Bytes> before = outputs();
  const std::size_t free_at_first = machine_->free_bytes();
  const bool held = machine_->hold();
  try {
    launch(machine_->stream());
  } catch (...) {
    machine_->release();
    throw;
  }
  if (held) {
    std::this_thread::sleep_for(held_for);
    const std::string early = changed_between(before, outputs());
    machine_->release();
    if (!early.empty()) {
      trouble_ = fmt::format(
          "{} changed while the stream was held back: it works on another stream, which nobody "
          "times; enqueue everything on the stream that it is given",
          early);
    }
  }
  machine_->wait_for_stream();
  const std::vector<Bytes> at_end = outputs();
  machine_->wait_for_everything();
  if (const std::string late = changed_between(at_end, outputs());
      trouble_.empty() && !late.empty()) {
    trouble_ = fmt::format(
        "{} changed after the stream had come to its end: it works on another stream, which nobody "
        "times; make the stream wait for it (cudaStreamWaitEvent)",
        late);
  }
  const std::size_t free_after_one = machine_->free_bytes();
  const std::size_t taken = free_at_first - std::min(free_at_first, free_after_one);
  if (trouble_.empty() && taken > free_at_first / share_of_memory) {
    trouble_ = fmt::format(
        "it took {} of the {} bytes of device memory that were free: the others need as much",
        taken, free_at_first);
  }
  std::size_t free_before_run = free_after_one, leaks = 0;
  constexpr std::size_t more_runs = 2;
  for (std::size_t run = 0; run < more_runs && trouble_.empty(); ++run) {
    self.reset(machine_->stream());
    launch(machine_->stream());
    machine_->wait_for_stream();
    machine_->wait_for_everything();
    const std::size_t now = machine_->free_bytes();
    if (now + least_leak <= free_before_run) ++leaks;
    free_before_run = now;
  }
  if (leaks == more_runs) {
    trouble_ =
        fmt::format("each run takes device memory that it does not give back, {} bytes in {} runs",
                    free_after_one - free_before_run, more_runs);
  }
}

void PosedProblem::check_untouched(const Buffer& buffer, const Bytes& image,
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
  const Bytes& given = given_to(buffer);
  const auto [was, is] = std::mismatch(given.begin(), given.end(), begin);
  if (was != given.end()) {
    damage.push_back(fmt::format(
        "wrote into the input '{}' ({}) at {}", b.name, description_.place(b.line),
        static_cast<std::size_t>(std::distance(given.begin(), was)) / bytes_of(b.type)));
  }
}

const std::vector<std::byte>& PosedProblem::given_to(const Buffer& buffer) const {
  return cases_[posed_].given[static_cast<std::size_t>(&buffer - buffers_.data())];
}

void PosedProblem::check(const Buffer& buffer, const Bytes& got, Verdict& verdict) const {
  const BufferDescription& b = *buffer.about;
  const Bytes& expected =
      cases_[posed_].expected[static_cast<std::size_t>(&buffer - buffers_.data())];
  const Differences found = differences(b, buffer.count, got, expected);
  verdict.checked += static_cast<std::int64_t>(buffer.count);
  verdict.mismatches += found.mismatches;
  const double bound = b.norm == Norm::exact ? 0 : b.tolerance;
  // What is told is the output that is farthest from its bound, or nearest to it.
  const auto excess = [](double error, double most) {
    return most > 0 ? error / most : (error > 0 ? std::numeric_limits<double>::infinity() : 0);
  };
  if (verdict.norm.empty() || excess(found.error, bound) > excess(verdict.error, verdict.bound)) {
    verdict.norm = norm_text(b.norm);
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

Verdict PosedProblem::verify() {
  Verdict verdict;
  const std::vector<Bytes> at_end = outputs();
  machine_->wait_for_everything();
  std::vector<std::string> damage;
  if (!trouble_.empty()) damage.push_back(std::exchange(trouble_, {}));
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    const Bytes image = image_of(buffer);
    check_untouched(buffer, image, damage);
    if (!buffer.is_judged()) continue;
    const Bytes now(image.begin() + guard_bytes,
                    image.begin() + guard_bytes + static_cast<std::ptrdiff_t>(buffer.bytes));
    if (now != at_end[i] && damage.empty()) {
      damage.push_back(fmt::format("'{}' ({}) changed after the stream had come to its end",
                                   buffer.about->name, description_.place(buffer.about->line)));
    }
    check(buffer, at_end[i], verdict);
  }
  verdict.passed = verdict.mismatches == 0 && damage.empty();
  // What is wrong beyond single values is said first.
  verdict.first_mismatches.insert(verdict.first_mismatches.begin(), damage.begin(), damage.end());
  if (verdict.first_mismatches.size() > most_mismatches_told) {
    verdict.first_mismatches.resize(most_mismatches_told);
  }
  return verdict;
}

}  // namespace amasia
