#pragma once
#include "comm/cuda/gpu_group.h"

namespace mpitron::comm {

/// Tensors travel through pinned memory of the host and the host's group, so that several ranks may
/// share a GPU and nothing but MPI is needed. Starting an operation waits for the GPU; the results
/// come back in the order of its stream. Bits are those of the host's group.
class StagedGroup final : public GpuGroup {
 public:
  using GpuGroup::GpuGroup;

 private:
  Work start_on_device(const Request& request) override;

  std::shared_ptr<ProgressEngine> engine_ = std::make_shared<ProgressEngine>();
};

}  // namespace mpitron::comm
