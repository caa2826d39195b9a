#pragma once
#include <cstdint>

#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;

/// The keys that the query at position `i` of a sample sees: itself and those before it, but those
/// that a mask [b or 1, s or 1, s] hides.
class VisibleKeys {
 public:
  VisibleKeys(const In& mask, Index sample, Index i) : end_(i + 1) {
    if (mask) {
      hidden_ = mask.as<std::uint8_t>() + (mask.size(0) > 1 ? sample * mask.stride(0) : 0) +
                (mask.size(1) > 1 ? i * mask.stride(1) : 0);
    }
  }
  /// One behind the last key that may be visible.
  Index end() const { return end_; }
  bool operator()(Index j) const { return hidden_ == nullptr || hidden_[j] == 0; }

 private:
  const std::uint8_t* hidden_ = nullptr;
  Index end_;
};

}  // namespace mpitron::kernels
