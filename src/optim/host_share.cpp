// Keeps optimizer states on the host and copies gradients in and parameters out. Copies are only
// queued, so that the optimizer may update one tensor on the processor while the next arrives.
#include "optim/host_share.h"

#include <cmath>
#include <numeric>

#include "device/copy.h"
#include "tensor/host_copy.h"
#include "utils/log.h"

namespace mpitron::optim {
namespace {

/// The device's page-locked memory, for a device that owns its allocator.
class PageLocked final : public device::Allocator {
 public:
  explicit PageLocked(device::Allocator& memory) : memory_(memory) {}
  void* allocate(std::size_t bytes, std::size_t& capacity) override {
    return memory_.allocate(bytes, capacity);
  }
  void release(void* block, std::size_t capacity) noexcept override {
    memory_.release(block, capacity);
  }
  device::AllocatorStatistics statistics() const override { return memory_.statistics(); }
  device::Allocator* notes() override { return memory_.notes(); }

 private:
  device::Allocator& memory_;
};

}  // namespace

std::vector<bool> tensors_on_processor(const std::vector<Index>& sizes, double fraction) {
  const Index all = std::accumulate(sizes.begin(), sizes.end(), Index{0});
  const auto share = static_cast<Index>(std::ceil(static_cast<double>(all) * fraction));
  std::vector<bool> chosen;
  Index taken = 0;
  for (const Index size : sizes) {
    chosen.push_back(taken + size <= share);
    taken += chosen.back() ? size : 0;
  }
  return chosen;
}

HostShare::HostShare(device::Device& device, const config::OffloadConfig& config)
    : device_(device),
      home_(device::make_device(
          "host", config.pin_params ? std::make_unique<PageLocked>(device.staging()) : nullptr)),
      pageable_(config.pin_grads ? nullptr : std::make_unique<device::CachingHostAllocator>()),
      arrivals_(config.pin_grads ? device.staging() : *pageable_) {}

HostShare::~HostShare() {
  try {
    wait();
  } catch (const std::exception& error) {
    log::error("{}", error.what());
  }
}

tensor::Tensor HostShare::fetch(const tensor::Tensor& x) {
  const tensor::Tensor copy = tensor::Tensor::empty(arrivals_, x.shape(), x.dtype());
  tensor::copy_bytes(device_, x, copy);
  return copy;
}

void HostShare::send(const tensor::Tensor& x, const tensor::Tensor& to) {
  tensor::copy_bytes(device_, x, to);
}

void HostShare::wait() {
  device::synchronize(device_.stream());
}

}  // namespace mpitron::optim
