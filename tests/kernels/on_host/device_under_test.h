#pragma once
#include "device/launch.h"
#include "support/host_runtime.h"
#include "tests/kernels/test_memory.h"

namespace mpitron::kernels {

/// What kernels_test tests.
using StreamUnderTest = device::HostStream;

/// What errors of long sums in fp32 are multiples of, and how large those of sums of numbers of 8
/// bits are beside the largest result.
inline constexpr double kSumErrors = 1, kFp8SumError = 3e-6;
/// Whether kernels of layers with a state have fp64.
inline constexpr bool kRecursInFp64 = true;
/// Whether generation may keep their states in any type.
inline constexpr bool kKeepsStatesInAnyType = true;
/// Whether weights of fp32, bf16 and fp16 are packed, too.
inline constexpr bool kPacksNumbers = true;

/// Runs the kernel to its end, with a workspace full of NaN where it wants one.
template <class Kernel>
void run_on_device(Kernel kernel) {
  StreamUnderTest stream;
  const TestBlock workspace = give_workspace(stream, kernel);
  run(stream, kernel);
}

}  // namespace mpitron::kernels
