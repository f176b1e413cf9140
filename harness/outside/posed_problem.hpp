// The buffers of a description on a machine, between guards, and the judge of what runs leave
// there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/app.hpp"
#include "harness/outside/description.hpp"
#include "harness/outside/machine.hpp"

namespace amasia {

/// Bytes before and behind every buffer that no run may touch.
inline constexpr std::size_t guard_bytes = 64 << 10;

/// Device memory of the buffers at one size, guards and pristine copies included. Throws
/// UsageError.
std::int64_t posed_bytes(const Description& description, const Parameters& parameters);

class PosedProblem : public Instance {
 public:
  /// Allocates and fills the buffers. Throws UsageError "path:line: ..." for a file that is not as
  /// long as its buffer.
  PosedProblem(Description description, Parameters parameters, std::uint64_t seed,
               std::unique_ptr<Machine> machine);

  /// Takes what files and `reference` give as what outputs must be, for each input that is posed.
  /// The reference runs twice on outputs that were poisoned differently. Throws std::runtime_error
  /// when it does not write all of an output, or not the same twice.
  void expect_outputs_of(const Launch& reference, const std::string& name);

  /// Runs it once before anything is timed, and holds against it in the next verify(): work that
  /// does not wait for the stream or is not done when the stream is, memory that it takes.
  void try_out(const Launch& launch) const;

  void reset(Stream stream) override;
  Verdict verify() override;
  int challenges() const override { return static_cast<int>(cases_.size()) - 1; }
  void pose(int challenge) override;
  bool repeatable() const override { return repeatable_; }

  const Description& description() const { return description_; }
  const Parameters& parameters() const { return parameters_; }
  Machine& machine() const { return *machine_; }
  std::byte* data(std::size_t buffer) const { return buffers_[buffer].data(); }

 private:
  struct Buffer {
    const BufferDescription* about = nullptr;
    std::size_t count = 0, bytes = 0;
    std::shared_ptr<std::byte> memory{};    // guard, data, guard
    std::shared_ptr<std::byte> pristine{};  // the same before a run, of what runs read
    unsigned char poison = 0xFF;
    std::byte* data() const { return memory.get() + guard_bytes; }
    bool is_read() const;
    bool is_judged() const;
  };
  /// One input, and what the outputs must be for it.
  struct Case {
    std::uint64_t seed = 0;
    std::vector<std::vector<std::byte>> given{};     // by buffer; empty for what is not read
    std::vector<std::vector<std::byte>> expected{};  // by buffer; empty for what is not judged
  };

  void check(const Buffer& buffer, const std::vector<std::byte>& got, Verdict& verdict) const;
  void check_untouched(const Buffer& buffer, const std::vector<std::byte>& image,
                       std::vector<std::string>& damage) const;
  std::vector<std::byte> image_of(const Buffer& buffer) const;
  std::vector<std::vector<std::byte>> outputs() const;
  std::vector<std::vector<std::byte>> outputs_of_run(const Launch& launch);
  std::string changed_between(const std::vector<std::vector<std::byte>>& before,
                              const std::vector<std::vector<std::byte>>& after) const;
  const std::vector<std::byte>& given_to(const Buffer& buffer) const;

  Description description_;
  Parameters parameters_;
  std::unique_ptr<Machine> machine_;
  std::vector<Buffer> buffers_{};
  std::vector<Case> cases_{};  // the timed input, then the challenges
  std::size_t posed_ = 0;
  bool repeatable_ = true;
  mutable std::string trouble_{};  // what try_out() found, until verify() has said it
};

}  // namespace amasia
