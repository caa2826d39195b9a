#include "device/cuda/cuda_handles.h"

#include "device/cuda/check_cuda.h"

namespace mpitron::device {

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
