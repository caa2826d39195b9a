#include "comm/cuda/nccl_memory.h"

#include <utility>

#include "device/allocator.h"
#include "device/cuda/cuda_handles.h"

namespace mpitron::comm {
namespace {

constexpr std::size_t kGranularity = 512;  // as the device's other memory

void out_of_memory(std::size_t bytes, const device::AllocatorStatistics& now) {
  throw device::OutOfMemory(fmt::format(
      "out of GPU memory that NCCL can register: {} MiB more wanted, {} MiB in use; leave "
      "--use-nccl-ub out, or share buffers with --use-distributed-optimizer",
      bytes >> 20, now.bytes_in_use >> 20));
}

}  // namespace

class NcclMemory::Pages final : public device::PageSource {
 public:
  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() override {
    while (!taken_.empty()) {
      give_back(taken_.begin()->first, taken_.begin()->second.bytes);
    }
  }

  /// Takes pages; null where NCCL has none to give: the caching allocator frees its blocks and asks
  /// again.
  void* take(std::size_t bytes) override {
    void* pages = nullptr;
    if (ncclMemAlloc(&pages, bytes) != ncclSuccess) {
      cudaGetLastError();  // it is dealt with here, and not the next call's
      return nullptr;
    }
    taken_.emplace(static_cast<std::byte*>(pages), Taken{.bytes = bytes});
    return pages;
  }

  /// Gives pages back; registrations end before the memory does, on every channel that still lives.
  bool give_back(void* pages, std::size_t) noexcept override {
    cudaDeviceSynchronize();  // neither of the two below waits for work that uses them
    auto taken = taken_.extract(static_cast<std::byte*>(pages));
    for (const std::weak_ptr<NcclChannel>& one : taken.mapped().channels) {
      if (const std::shared_ptr<NcclChannel> channel = one.lock()) {
        channel->strike_out(pages);
      }
    }
    return ncclMemFree(pages) == ncclSuccess;
  }

  /// Registers the pages in which the tensor lies, each once for a channel.
  void enlist(const void* memory, const std::shared_ptr<NcclChannel>& channel) {
    auto behind = taken_.upper_bound(const_cast<std::byte*>(static_cast<const std::byte*>(memory)));
    if (behind == taken_.begin()) {
      return;
    }
    auto& [pages, taken] = *--behind;
    if (memory < pages + taken.bytes && channel->enlist(pages, taken.bytes)) {
      taken.channels.push_back(channel);
    }
  }

 private:
  struct Taken {
    std::size_t bytes;
    std::vector<std::weak_ptr<NcclChannel>> channels = {};  // that have registered it
  };
  std::map<std::byte*, Taken> taken_;
};

NcclMemory::NcclMemory() : NcclMemory(std::make_unique<Pages>()) {}

NcclMemory::NcclMemory(std::unique_ptr<Pages> pages)
    : pages_(*pages), blocks_(std::move(pages), kGranularity, out_of_memory) {}

void* NcclMemory::allocate(std::size_t bytes, std::size_t& capacity) {
  return blocks_.allocate(bytes, capacity);
}

void NcclMemory::release(void* block, std::size_t capacity) noexcept {
  blocks_.release(block, capacity);
}

void NcclMemory::enlist(const TensorView& memory, const std::shared_ptr<NcclChannel>& channel) {
  pages_.enlist(memory.data, channel);
}

}  // namespace mpitron::comm
