#pragma once
#include <cstdint>

#include "device/tensor_view.h"

namespace mpitron::kernels {

/// `starts` [s, b] of a kernel whose sequences hold several documents: the first position of the
/// document of each one. Absent, a sequence is one document. What is constexpr also runs on GPUs.
class DocumentStarts {
 public:
  explicit DocumentStarts(const device::In& starts)
      : starts_(starts ? starts.as<std::int32_t>() : nullptr),
        stride_s_(starts.stride(0)),
        stride_b_(starts.stride(1)) {}

  constexpr bool several() const { return starts_ != nullptr; }
  constexpr Index operator()(Index i, Index sample) const {
    return starts_ == nullptr ? 0 : starts_[i * stride_s_ + sample * stride_b_];
  }
  /// Whether nothing before position i is of its document.
  constexpr bool begins(Index i, Index sample) const { return (*this)(i, sample) == i; }

 private:
  const std::int32_t* starts_;
  Index stride_s_, stride_b_;
};

}  // namespace mpitron::kernels
