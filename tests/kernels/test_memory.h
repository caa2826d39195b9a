#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include <sys/mman.h>

#include "device/tensor_view.h"
#include "utils/check.h"

namespace mpitron::kernels {

/// Where test tensors lie: one range of host memory, so that a device that does not reach it can
/// be given a copy of the whole, in which every tensor has the same place. Its addresses are such
/// that no pair of other numbers looks like one: neither half is a usual integer or float.
class TestMemory {
 public:
  static TestMemory& instance() {
    static TestMemory only;
    return only;
  }

  /// Aligned to 64 bytes, not cleared.
  std::byte* take(std::size_t bytes) {
    std::byte* block = memory_ + end_;
    end_ += (bytes + 63) / 64 * 64 + 64;
    MPITRON_CHECK(end_ <= kBytes, end_);
    blocks_[block] = end_;
    return block;
  }
  void give_back(std::byte* block) {
    blocks_.erase(block);
    end_ = blocks_.empty() ? 0 : blocks_.rbegin()->second;
  }

  /// The part that is in use.
  std::span<std::byte> used() { return {memory_, end_}; }
  bool holds(const void* address) const { return address >= memory_ && address < memory_ + kBytes; }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 29;  // touched only where it is used
  static constexpr std::uintptr_t kBegin = 0x200010000000;     // where the system has it free

  std::byte* memory_ =
      static_cast<std::byte*>(mmap(reinterpret_cast<void*>(kBegin), kBytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  std::size_t end_ = 0;
  std::map<std::byte*, std::size_t> blocks_;  // the end of each
};

/// A block of test memory, every byte `fill`.
class TestBlock {
 public:
  TestBlock(std::size_t bytes, std::byte fill) : bytes_(TestMemory::instance().take(bytes), bytes) {
    std::fill(bytes_.begin(), bytes_.end(), fill);
  }
  TestBlock(const TestBlock& other) : TestBlock(other.bytes_.size(), std::byte{0}) {
    std::copy(other.bytes_.begin(), other.bytes_.end(), bytes_.begin());
  }
  TestBlock& operator=(TestBlock other) {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~TestBlock() { TestMemory::instance().give_back(bytes_.data()); }

  std::byte* data() { return bytes_.data(); }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// Gives the kernel a workspace full of NaN, of the size that it wants on this stream's device.
template <class Stream, class Kernel>
TestBlock give_workspace(const Stream& stream, Kernel& kernel) {
  Index bytes = 0;
  if constexpr (requires { workspace_bytes(stream, kernel); }) {
    bytes = workspace_bytes(stream, kernel);
  }
  TestBlock workspace(static_cast<std::size_t>(bytes), std::byte{0xff});
  if constexpr (requires { kernel.workspace; }) {
    kernel.workspace = device::TensorView(workspace.data(), DType::u8, {bytes});
  }
  return workspace;
}

}  // namespace mpitron::kernels
