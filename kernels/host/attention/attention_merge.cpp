// Merges two parts of an attention over different keys by their lse, in place and in fp32: what
// ranks that share a sequence do with theirs.
#include "kernels/attention/attention_merge.h"

#include <cmath>

#include "kernels/host/common/parallel.h"

namespace mpitron::kernels {
namespace {

void merge_row(const AttentionMerge& kernel, Index row) {
  const Index s = kernel.o.size(0), heads = kernel.o.size(1) * kernel.o.size(2);
  const Index d = kernel.o.size(3), at = row % heads * s + row / heads;
  float* const lse = kernel.lse.as<float>();
  const float mine = lse[at], theirs = kernel.part_lse.as<float>()[at];
  const float largest = std::max(mine, theirs);
  if (std::isinf(largest)) {
    return;
  }
  const float both = largest + std::log(std::exp(mine - largest) + std::exp(theirs - largest));
  const float keep = std::exp(mine - both), add = std::exp(theirs - both);
  float* const o = kernel.o.as<float>() + row * d;
  const float* const part = kernel.part_o.as<float>() + row * d;
  for (Index i = 0; i < d; ++i) {
    o[i] = keep * o[i] + add * part[i];
  }
  lse[at] = both;
}

}  // namespace

void run(device::HostStream&, const AttentionMerge& kernel) {
  const auto& o = kernel.o;
  MPITRON_CHECK(o.contiguous() && kernel.part_o.contiguous() && kernel.part_o.shape == o.shape,
                to_string(o.shape));
  MPITRON_CHECK(o.dtype == DType::f32 && kernel.part_o.dtype == DType::f32, name_of(o.dtype));
  MPITRON_CHECK(kernel.lse.contiguous() && kernel.part_lse.contiguous(),
                to_string(kernel.lse.shape));
  const Index rows = o.numel() / std::max<Index>(o.size(3), 1);
  host::for_ranges(rows, o.numel(), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      merge_row(kernel, row);
    }
  });
}

}  // namespace mpitron::kernels
