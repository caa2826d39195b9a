#pragma once
#include <memory>

#include <cuda_runtime_api.h>

namespace mpitron::device {

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
StreamHandle make_stream();
/// An event to wait for; `timing`: also one that tells when.
EventHandle make_event(bool timing = false);

}  // namespace mpitron::device
