#pragma once
#include "comm/shared/shared_memory.h"
#include "device/tensor_view.h"

namespace mpitron::comm {

/// A rank's memory as the others see it: itself, or a copy where they cannot reach it.
class SharedExposure {
 public:
  SharedExposure() = default;
  SharedExposure(AddressSpaces& spaces, const device::ConstTensorView& data);
  ~SharedExposure();
  SharedExposure(const SharedExposure&) = delete;
  SharedExposure& operator=(SharedExposure&& other) noexcept;

  std::uintptr_t address() const { return address_; }
  /// What the others stored, into `to`, which is the exposed memory.
  void copy_back(void* to) const;

 private:
  device::ConstTensorView original_;
  device::Allocator* staging_ = nullptr;
  void* copy_ = nullptr;
  std::size_t capacity_ = 0;
  std::uintptr_t address_ = 0;
};

}  // namespace mpitron::comm
