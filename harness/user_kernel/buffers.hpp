// The buffers of a description on a machine, between guards, and the judge of what runs leave
// there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/app.hpp"
#include "harness/user_kernel/description.hpp"
#include "harness/user_kernel/machine.hpp"

namespace amasia {

/// Bytes before and behind every buffer that no run may touch.
inline constexpr std::size_t guard_bytes = 64 << 10;
/// Bytes that the places of a buffer lie apart, altogether.
inline constexpr std::size_t slack_bytes = 8 << 10;

/// Device memory of the buffers at one size, guards and copies included. Throws
/// UsageError.
std::int64_t buffer_bytes(const Description& description, const Parameters& parameters);

class UserBuffers : public Instance {
 public:
  /// Allocates and fills the buffers. Throws UsageError "path:line: ..." for a file that is not as
  /// long as its buffer.
  UserBuffers(Description description, Parameters parameters, std::uint64_t seed,
              std::unique_ptr<Machine> machine);

  /// Takes what files and `reference` give as expected outputs, for each input. The reference runs
  /// twice on outputs that are poisoned differently. Throws std::runtime_error when it does not
  /// write all of an output, or not the same twice.
  void expect_outputs_of(Launch reference, const std::string& name);

  /// Runs it before anything is timed. The next verify() refuses work beside the stream and memory
  /// that it takes or leaks. The first run may load code, allocate and wait.
  void try_out(const Launch& launch) const;

  void reset(Stream stream) override;
  Verdict verify() override;
  int challenges() const override { return static_cast<int>(expected_.size()) - 1; }
  void pose(int challenge) override;
  bool repeatable() const override { return repeatable_; }

  void renew(std::uint64_t seed, bool move) override;
  int places() const override;
  Renewal renewal() const override { return renewal_; }
  bool reset_for_hot_run(Stream stream) override;
  void keep(int row) override;
  std::optional<Verdict> verify_kept(int row) override;
  void try_again(const Launch& launch) override;

  const Description& description() const { return description_; }
  const Parameters& parameters() const { return parameters_; }
  Machine& machine() const { return *machine_; }
  /// Where the buffer is until the next renew().
  std::byte* data(std::size_t buffer) const { return buffers_[buffer].data(); }

 private:
  using Bytes = std::vector<std::byte>;
  struct Buffer {
    const BufferDescription* about = nullptr;
    std::size_t count = 0, bytes = 0;
    std::uint64_t stream = 0;               // of random numbers
    std::shared_ptr<std::byte> memory{};    // at one of several places: guard, data, guard
    std::shared_ptr<std::byte> pristine{};  // the same before a run, of what runs read
    std::shared_ptr<std::byte> original{};  // the data of a file that is to be changed
    unsigned char poison = 0xFF;
    int place = 0;
    std::byte* image() const;
    std::byte* data() const { return image() + guard_bytes; }
    bool is_read() const { return amasia::is_read(about->role); }
    bool is_judged() const { return is_written(about->role); }
    bool is_drawn() const;
  };
  using Contents = std::vector<Bytes>;  // by buffer; empty for what is not judged
  /// What a run left.
  struct Left {
    std::vector<std::string> damage{};  // what is wrong beyond values of the outputs
    std::shared_ptr<const Contents> outputs{};
  };
  struct Kept {
    std::uint64_t seed = 0;  // of its input
    Left left{};
  };

  void allocate(const BufferDescription& about);
  void fill_pristine(Buffer& buffer);
  Renewal what_changes();
  void set_inputs(std::uint64_t seed);
  void restore(const Buffer& buffer, Stream stream) const;
  void put_input(const Buffer& buffer, std::byte* data, std::uint64_t seed, Stream stream);
  Contents expected_now();
  void check_expected(const Buffer& buffer, const Bytes& expected, const Bytes& second) const;
  std::string hint_at_altered_files() const;
  Left what_is_left();
  Verdict judged(const Left& left, const Contents& expected) const;
  void check(const Buffer& buffer, const Bytes& got, const Bytes& expected, Verdict& verdict) const;
  void check_untouched(const Buffer& buffer, const Bytes& image,
                       std::vector<std::string>& damage) const;
  Contents outputs() const;
  void run(const Launch& launch);
  std::string changed_between(const Contents& before, const Contents& after) const;
  std::string work_beside(const Launch& launch);

  Description description_;
  Parameters parameters_;
  std::unique_ptr<Machine> machine_;
  std::uint64_t seed_;
  std::vector<Buffer> buffers_{};
  std::vector<Contents> expected_{};  // of the timed input, then of the challenges
  std::size_t input_ = 0;
  std::uint64_t input_seed_ = 0;  // of the input that is there
  bool repeatable_ = true, changes_ = false;
  Renewal renewal_{};
  Launch reference_{};
  std::string reference_name_{};
  std::map<int, Kept> kept_{};                                            // by row
  std::optional<std::pair<std::uint64_t, Contents>> expected_of_kept_{};  // of the seed
  mutable std::string trouble_{};  // what try_out() found, until verify() has said it
};

}  // namespace amasia
