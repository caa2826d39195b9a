// Finds the largest attention score of each head, which the clipping of queries and keys (QK-clip,
// Kimi Team 2025) is made of. Sums are plain fp32; a maximum has no order.
#include "kernels/attention/attention_largest.h"

#include <limits>
#include <vector>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;

/// A head of one sample; its keys are widened to fp32 once.
template <class T>
class Head {
 public:
  Head(const AttentionLargest& k, Index sample, Index group, Index head)
      : kernel_(k),
        sample_(sample),
        keys_here_(k.k.size(0)),
        d_(k.q.size(4)),
        q_(k.q.as<T>() + sample * k.q.stride(1) + group * k.q.stride(2) + head * k.q.stride(3)),
        keys_(static_cast<std::size_t>(keys_here_ * d_)) {
    const T* const from = k.k.as<T>() + sample * k.k.stride(1) + group * k.k.stride(2);
    for (Index j = 0; j < keys_here_; ++j) {
      for (Index c = 0; c < d_; ++c) {
        keys_[static_cast<std::size_t>(j * d_ + c)] =
            static_cast<float>(from[j * k.k.stride(0) + c]);
      }
    }
  }
  float largest() const {
    float result = -std::numeric_limits<float>::infinity();
    std::vector<float> query(static_cast<std::size_t>(d_));
    for (Index i = 0; i < kernel_.q.size(0); ++i) {
      for (Index c = 0; c < d_; ++c) {
        query[static_cast<std::size_t>(c)] =
            static_cast<float>(q_[i * kernel_.q.stride(0) + c]) * kernel_.scale;
      }
      const Index at = kernel_.queries(i);
      const std::uint8_t* const hidden = hidden_from(i);
      for (Index j = kernel_.first_key(at); j < (kernel_.causal ? at + 1 : keys_here_); ++j) {
        if (hidden != nullptr && hidden[j] != 0) {
          continue;
        }
        const float* const key = keys_.data() + j * d_;
        const auto [sum] = simd::row_sums<1>(d_, [&](Index c, auto lanes, auto& sums) {
          sums[0] =
              simd::fma(simd::load(query.data() + c, lanes), simd::load(key + c, lanes), sums[0]);
        });
        result = std::max(result, sum);
      }
    }
    return result;
  }

 private:
  /// Marks of the keys that the mask hides from query `i`; null without a mask.
  const std::uint8_t* hidden_from(Index i) const {
    const device::ConstTensorView& mask = kernel_.mask;
    return mask ? mask.as<std::uint8_t>() + (mask.size(0) > 1 ? sample_ * mask.stride(0) : 0) +
                      (mask.size(1) > 1 ? i * mask.stride(1) : 0)
                : nullptr;
  }

  const AttentionLargest& kernel_;
  Index sample_, keys_here_, d_;
  const T* q_;
  std::vector<float> keys_;
};

}  // namespace

void run(device::HostStream&, const AttentionLargest& k) {
  const Index samples = k.q.size(1), groups = k.q.size(2), heads = k.q.size(3);
  float* const largest = k.largest.as<float>();
  visit_dtype(k.q.dtype, [&]<class T>() {
    for_blocks(groups * heads, k.q.numel() * k.q.size(0) / 2, [&](Index at) {
      for (Index sample = 0; sample < samples; ++sample) {
        largest[at] = std::max(largest[at], Head<T>(k, sample, at / heads, at % heads).largest());
      }
    });
  });
}

}  // namespace mpitron::kernels
