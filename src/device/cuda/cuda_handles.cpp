// Owns streams and events, and turns failed calls into errors that name what was being done.
#include "device/cuda/cuda_handles.h"

#include "utils/error.h"

namespace mpitron::device {

/// Throws Error(environment) with both the sentence and the name, which manuals are searched for.
void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw_environment("CUDA: {}: {} ({})", what, cudaGetErrorString(status),
                      cudaGetErrorName(status));
  }
}

/// The opt-in limit, since kernels ask for more than the 48 KiB that all blocks may have.
void check_shared_memory(int device, const char* kernel, std::size_t bytes) {
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), kernel);
  if (bytes > static_cast<std::size_t>(most)) {
    throw_environment(
        "kernel {} needs {} KiB of shared memory for this shape, but a block of this GPU has at "
        "most {} KiB: take smaller heads or a narrower layer, or another GPU",
        kernel, (bytes + 1023) / 1024, most / 1024);
  }
}

StreamHandle make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return StreamHandle(stream);
}

EventHandle make_event(bool timing) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timing ? cudaEventDefault : cudaEventDisableTiming),
        "creating an event");
  return EventHandle(event);
}

}  // namespace mpitron::device
