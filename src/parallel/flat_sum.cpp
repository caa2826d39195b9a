#include "parallel/flat_sum.h"

namespace mpitron::parallel {

/// One message for all tensors: they are copied side by side, summed and copied back.
void sum_together(device::Device& device, comm::Group& group, std::span<const Tensor> tensors) {
  if (group.size() == 1 || tensors.empty()) {
    return;
  }
  if (tensors.size() == 1) {
    group.all_reduce(tensors.front().view()).wait();
    return;
  }
  Index numel = 0;
  for (const Tensor& x : tensors) {
    numel += x.numel();
  }
  const Tensor together = Tensor::empty(device, {numel}, tensors.front().dtype());
  const auto for_each_place = [&](auto&& visit) {
    Index begin = 0;
    for (const Tensor& x : tensors) {
      visit(flat(x), together.slice(0, begin, begin + x.numel()));
      begin += x.numel();
    }
  };
  for_each_place([&](const Tensor& x, const Tensor& place) { copy(device, x, place); });
  group.all_reduce(together.view()).wait();
  for_each_place([&](const Tensor& x, const Tensor& place) { copy(device, place, x); });
}

}  // namespace mpitron::parallel
