#pragma once

namespace mpitron::device {

class LaunchObserver;

/// Parts that every stream has: an observer that sees each launch (tracing, timing, NaN hunting);
/// none as a rule.
struct StreamBase {
  LaunchObserver* observer = nullptr;
};

/// Plain loops with double accumulation: the oracle of every test.
struct ReferenceStream : StreamBase {
  static constexpr const char* name = "reference";
};

/// The machine's cores: Kokkos over rows, oneDNN for matrix products. Kernels run to their end
/// before `run` returns.
struct HostStream : StreamBase {
  static constexpr const char* name = "host";
};

/// Stream on which nothing runs: for plans, which ask what a program launches, allocates and sends.
/// A kernel whose results decide sizes may have an overload all the same.
struct NullStream : StreamBase {
  static constexpr const char* name = "null";
};

/// A queue of one GPU: `run` returns before the kernel ends. Complete (device/cuda/cuda_device.h)
/// and part of the variant `Stream` only in a build with CUDA; declared here, so that kernels can
/// declare their overloads.
struct CudaStream;

}  // namespace mpitron::device
