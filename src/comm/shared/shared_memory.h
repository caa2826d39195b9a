#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <sys/types.h>

#include "device/allocator.h"
#include "device/tensor_view.h"

namespace mpitron::comm {

/// Zeroed pages that the other processes of this node can map as well. They are reserved, not
/// taken: only touched pages cost memory. Not below /dev/shm, whose size containers limit.
class SharedMemory {
 public:
  /// Error(environment) where the system refuses.
  static std::shared_ptr<SharedMemory> create(std::size_t bytes);
  /// Maps what process `owner` of this user has as `descriptor`; null where the system forbids it.
  static std::shared_ptr<SharedMemory> open(pid_t owner, int descriptor, std::size_t bytes);

  SharedMemory(int descriptor, std::byte* data, std::size_t bytes)
      : descriptor_(descriptor), data_(data), bytes_(bytes) {}
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }
  bool contains(const void* memory) const {
    const auto* at = static_cast<const std::byte*>(memory);
    return at >= data_ && at < data_ + bytes_;
  }

 private:
  static std::shared_ptr<SharedMemory> map(int descriptor, std::size_t bytes);

  int descriptor_;
  std::byte* data_;
  std::size_t bytes_;
};

/// Hands out a shared memory from its start on; several sources may share one `taken`. Huge pages
/// are made at once where the system can (madvise(MADV_COLLAPSE), which needs no setting).
class SharedPages final : public device::PageSource {
 public:
  SharedPages(std::shared_ptr<SharedMemory> memory, std::shared_ptr<std::size_t> taken)
      : memory_(std::move(memory)), taken_(std::move(taken)) {}
  void* take(std::size_t bytes) override;

 private:
  std::shared_ptr<SharedMemory> memory_;
  std::shared_ptr<std::size_t> taken_;
};

/// Ways in which members reach each other's memory.
class AddressSpaces {
 public:
  virtual ~AddressSpaces() = default;
  /// Tells whether the others can reach this memory; if not, it is copied through `staging`.
  virtual bool reachable(const void* memory) const = 0;
  virtual device::Allocator& staging() = 0;
  /// Returns a number by which the others reach this rank's (reachable) memory.
  virtual std::uintptr_t publish(const void* memory) = 0;
  /// Returns the memory that world rank `rank` published under this number.
  virtual void* reach(Index rank, std::uintptr_t address) = 0;
  /// Throws where the job is being ended, so that nobody waits for a member that is gone.
  virtual void check_alive() = 0;
};

/// Shows a rank's memory to the others: itself, or a copy where they cannot reach it.
class SharedExposure {
 public:
  SharedExposure() = default;
  SharedExposure(AddressSpaces& spaces, const device::ConstTensorView& data);
  ~SharedExposure();
  SharedExposure(const SharedExposure&) = delete;
  SharedExposure& operator=(SharedExposure&& other) noexcept;

  std::uintptr_t address() const { return address_; }
  /// Copies what the others stored back to `to`, which is the exposed memory.
  void copy_back(void* to) const;

 private:
  device::ConstTensorView original_;
  device::Allocator* staging_ = nullptr;
  void* copy_ = nullptr;
  std::size_t capacity_ = 0;
  std::uintptr_t address_ = 0;
};

}  // namespace mpitron::comm
