#include "comm/cuda/gpu_group.h"

#include "device/copy.h"
#include "device/cuda/check_cuda.h"

namespace mpitron::comm {
namespace {

bool on_device(const void* memory) {
  cudaPointerAttributes attributes{};
  device::check(cudaPointerGetAttributes(&attributes, memory), "asking where a tensor lies");
  return attributes.type == cudaMemoryTypeDevice;
}

/// All members must find the same. So memory without elements counts too: who has no tokens to send
/// and gets none takes part in the exchange of the others.
bool on_device(const Request& request) {
  const bool input = request.input.numel() > 0 || request.output.data == nullptr;
  const void* const memory =
      input && request.input.data != nullptr ? request.input.data : request.output.data;
  return memory != nullptr && on_device(memory);
}

}  // namespace

Work GpuGroup::start(const Request& request) {
  return on_device(request) ? start_on_device(request) : host_->run(request);
}

void GpuGroup::run_alone(const Request& request) {
  if (!on_device(request)) {
    Group::run_alone(request);
  } else if (request.input.data != nullptr && request.input.data != request.output.data) {
    device::copy_bytes(device_.stream(), request.output.data, request.input.data,
                       request.output.bytes());
  }
}

}  // namespace mpitron::comm
