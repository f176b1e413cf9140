// What runs is decided by the code that is loaded as well as by the device. Without a device.
#include "harness/gpu/loaded_code.hpp"
#include "harness/gpu/preparation.hpp"
#include "tests/test.hpp"
#include "variants/strategy.hpp"

namespace amasia {
namespace {

Device device(int capability) {
  Device d;
  d.name = "NVIDIA H200";
  d.compute_capability = capability;
  return d;
}

const Device hopper = device(90);
const LoadedCode of_90{90, 90}, ptx_80{80, 90}, ptx_75{75, 90};

TEST(LoadedCode, CountsOnWhatItWasCompiledFor) {
  EXPECT_EQ(capability_of(of_90, hopper), 90);
  EXPECT_EQ(capability_of(ptx_80, hopper), 80);
  EXPECT_EQ(capability_of({80, 80}, device(86)), 80);
  EXPECT_EQ(capability_of({0, 90}, hopper), 90);       // a driver that does not say
  EXPECT_EQ(capability_of({90, 90}, device(80)), 80);  // never more than the device
}

TEST(LoadedCode, ObjectsWhereTheDeviceCouldAndTheCodeCannot) {
  EXPECT_EQ(code_objection(ptx_80, hopper, "tma", 90),
            "this program's code for this GPU is PTX of compute_80, and tma needs code for sm_90: "
            "rebuild with -DCMAKE_CUDA_ARCHITECTURES=90a-real");
  EXPECT_EQ(code_objection({80, 80}, device(89), "this point", 89),
            "this program's code for this GPU is machine code for sm_80, and this point needs code "
            "for sm_89: rebuild with -DCMAKE_CUDA_ARCHITECTURES=89-real");
  EXPECT_EQ(code_objection(of_90, hopper, "tma", 90), std::nullopt);
  EXPECT_EQ(code_objection(ptx_75, hopper, "baseline", 0), std::nullopt);
  // The device is at fault, and that has its own sentence.
  EXPECT_EQ(code_objection({80, 80}, device(80), "tma", 90), std::nullopt);
}

TEST(LoadedCode, EveryStrategyRunsOrIsRefusedInOldCode) {
  for (const StrategyTraits& traits : strategy_traits) {
    for (const LoadedCode& code : {ptx_75, ptx_80, of_90}) {
      const bool refused = code_objection(code, hopper, traits.name, traits.runs_from).has_value();
      EXPECT_EQ(refused, code.ptx < traits.runs_from) << traits.name << " " << code.ptx;
      const bool falls_back = !fallback_of(code, hopper, traits.native_from).empty();
      EXPECT_EQ(falls_back, code.ptx < traits.native_from) << traits.name << " " << code.ptx;
    }
  }
}

TEST(LoadedCode, AFallbackSaysWhetherDeviceOrCodeIsTooOld) {
  EXPECT_EQ(fallback_of(of_90, hopper, 80), "");
  EXPECT_EQ(fallback_of({75, 75}, device(75), 80),
            "plain copies: the mechanism needs compute capability 8.0");
  EXPECT_EQ(
      fallback_of(ptx_75, hopper, 80),
      "plain copies: this program's code for this GPU is PTX of compute_75, and the mechanism "
      "needs code for sm_80: rebuild with -DCMAKE_CUDA_ARCHITECTURES=90a-real");
}

TEST(LoadedCode, AProgramWithoutCodeSaysSoInOneLine) {
  EXPECT_EQ(no_code("cudaErrorNoKernelImageForDevice", hopper),
            "this program has no code for this GPU, NVIDIA H200 of compute capability 9.0: rebuild "
            "with -DCMAKE_CUDA_ARCHITECTURES=90a-real (cudaErrorNoKernelImageForDevice)");
  EXPECT_EQ(no_code("cudaErrorUnsupportedPtxVersion", device(120)),
            "this program has PTX alone for this GPU, NVIDIA H200 of compute capability 12.0, and "
            "the driver does not translate it: update the driver, or rebuild with "
            "-DCMAKE_CUDA_ARCHITECTURES=120-real (cudaErrorUnsupportedPtxVersion)");
  EXPECT_EQ(
      no_code("cudaErrorIllegalAddress", hopper),
      "this program's code cannot be loaded on this GPU, NVIDIA H200: cudaErrorIllegalAddress");
}

constexpr int sms = 132;

TEST(BytesInFlight, AreThoseOfTheBlocksThatRunAtOnce) {
  const struct {
    std::size_t per_block;
    std::int64_t resident;
    std::optional<std::int64_t> launched;
    std::size_t bytes;
  } cases[] = {
      {8192, 3 * sms, 3 * sms, 3 * 8192},
      {8192, 3 * sms, 1'000'000, 3 * 8192},
      {16384, 3 * sms, 128, 16384 * 128 / 132},  // nw at 16384 rows: 396 blocks would fit
      {16384, 3 * sms, 1, 124},
      {16384, 3 * sms, 0, 0},  // this run does not launch it
      {1000, 2 * sms, 200, 1515},
      {8192, 3 * sms, std::nullopt, 3 * 8192},
      {132'000, 128, 1024, 128'000},  // clusters of 16 blocks leave SMs empty
      {8192, 0, 5, 0},
      {227 * 1024, 32 * sms, INT64_MAX, 32 * 227 * 1024},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(bytes_in_flight_per_sm(c.per_block, c.resident, c.launched, sms), c.bytes);
  }
  EXPECT_EQ(bytes_in_flight_per_sm(8192, 5, 5, 0), 0u);
}

}  // namespace
}  // namespace amasia
