#pragma once

#include <cstddef>
#include <memory>

#include <cuda_runtime_api.h>

namespace mpitron::device {

/// Turns a failed CUDA call into Error(environment); `what` says what was being done.
void check(cudaError_t status, const char* what);

/// Error(environment) where a block of this GPU cannot have so much shared memory as the kernel
/// wants: 99 KiB on compute capability 8.6 and 8.9, 163 KiB on 8.0, 227 KiB on 9.0.
void check_shared_memory(int device, const char* kernel, std::size_t bytes);

/// Errors while destroying are passed over: the process is ending, or the driver has told them
/// already.
struct DestroyStream {
  void operator()(cudaStream_t stream) const noexcept { cudaStreamDestroy(stream); }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const noexcept { cudaEventDestroy(event); }
};

/// A stream and an event that end with their owner; on the GPU that is current when they are made.
using StreamHandle = std::unique_ptr<CUstream_st, DestroyStream>;
using EventHandle = std::unique_ptr<CUevent_st, DestroyEvent>;

/// A stream that does not wait for the default one.
/// It waits for no other stream, and none waits for it, but by events.
StreamHandle make_stream();
/// An event to wait for; `timing`: also one that tells when.
EventHandle make_event(bool timing = false);

}  // namespace mpitron::device
