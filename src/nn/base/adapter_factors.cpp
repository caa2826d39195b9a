// Makes of an adapter's factors what products of generation read: one A and one B for all parts
// that a layer's output fuses. Adapters serve generation, where tensors lie on the host.
#include "nn/base/adapter_factors.h"

#include <algorithm>
#include <cstring>

namespace mpitron::nn {

using autograd::Adapter;
using tensor::Tensor;

namespace {

/// A part's factors become rows `begin` .. of A, and columns `begin` .. of B in the rows of the
/// layer's output that the part writes.
template <class T>
void place_factors(const Adapter::Factors& factors, const ops::OutputBlocks& blocks, Index begin,
                   const Tensor& a, const Tensor& b) {
  const Index in = a.shape()[1], all = b.shape()[1], rank = factors.a->value.shape()[0];
  const T* const from = factors.b->value.data<T>();
  std::copy_n(factors.a->value.data<T>(), rank * in, a.data<T>() + begin * in);
  for (Index row = 0; row < factors.b->value.shape()[0]; ++row) {
    const Index to = blocks.first + row / blocks.width * blocks.stride + row % blocks.width;
    std::transform(
        from + row * rank, from + (row + 1) * rank, b.data<T>() + to * all + begin, [&](T value) {
          return static_cast<T>(
              static_cast<float>(static_cast<double>(static_cast<float>(value)) * factors.scale));
        });
  }
}

}  // namespace

/// There are zeros in B where a part does not write.
Adapter::Joined joined_factors(device::Device& device, const Adapter& adapter,
                               std::span<const AdapterPlace> places, Index out, DType type) {
  std::vector<std::pair<const Adapter::Factors*, const ops::OutputBlocks*>> parts;
  Index rank = 0;
  for (const AdapterPlace& place : places) {
    if (const Adapter::Factors* factors = adapter.find(place.module)) {
      parts.emplace_back(factors, &place.blocks);
      rank += factors->a->value.shape()[0];
    }
  }
  if (parts.empty()) {
    return {};
  }
  const Index in = parts[0].first->a->value.shape()[1];
  Adapter::Joined update{.a = {.name = places[0].module, .shape = {rank, in}},
                         .b = {.name = places[0].module, .shape = {out, rank}}};
  update.a.value = Tensor::empty(device, {rank, in}, type);
  update.b.value = Tensor::empty(device, {out, rank}, type);
  std::memset(update.b.value.view().data, 0,
              static_cast<std::size_t>(update.b.value.view().bytes()));
  Index begin = 0;
  for (const auto& [factors, blocks] : parts) {
    visit_dtype(type, [&]<class T>() {
      place_factors<T>(*factors, *blocks, begin, update.a.value, update.b.value);
    });
    begin += factors->a->value.shape()[0];
  }
  return update;
}

}  // namespace mpitron::nn
