// Makes of an adapter's factors what products of generation read: one A and one B for all parts
// that a layer's output fuses. The host does it, once for each layer that an adapter updates.
#include "nn/base/adapter_factors.h"

#include <algorithm>
#include <cstring>

#include "tensor/host_copy.h"

namespace mpitron::nn {

using autograd::Adapter;
using tensor::Tensor;

namespace {

/// A part's factors, where the host can read them, and its place among those of the layer.
struct Placed {
  Tensor a, b;
  double scale;
  const ops::OutputBlocks& blocks;
  Index begin;
};

/// A part's factors become rows `begin` .. of A, and columns `begin` .. of B in the rows of the
/// layer's output that the part writes.
template <class T>
void place_factors(const Placed& part, const Tensor& a, const Tensor& b) {
  const Index in = a.shape()[1], all = b.shape()[1], rank = part.a.shape()[0], begin = part.begin;
  const ops::OutputBlocks& blocks = part.blocks;
  const T* const from = part.b.data<T>();
  std::copy_n(part.a.data<T>(), rank * in, a.data<T>() + begin * in);
  for (Index row = 0; row < part.b.shape()[0]; ++row) {
    const Index to = blocks.first + row / blocks.width * blocks.stride + row % blocks.width;
    std::transform(
        from + row * rank, from + (row + 1) * rank, b.data<T>() + to * all + begin, [&](T value) {
          return static_cast<T>(
              static_cast<float>(static_cast<double>(static_cast<float>(value)) * part.scale));
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
  const Tensor a = tensor::empty_on_host(device, {rank, in}, type);
  const Tensor b = tensor::empty_on_host(device, {out, rank}, type);
  std::memset(b.view().data, 0, static_cast<std::size_t>(b.view().bytes()));
  Index begin = 0;
  for (const auto& [factors, blocks] : parts) {
    visit_dtype(type, [&]<class T>() {
      place_factors<T>({.a = tensor::to_host(device, factors->a->value),
                        .b = tensor::to_host(device, factors->b->value),
                        .scale = factors->scale,
                        .blocks = *blocks,
                        .begin = begin},
                       a, b);
    });
    begin += factors->a->value.shape()[0];
  }
  update.a.value = tensor::to_device(device, a);
  update.b.value = tensor::to_device(device, b);
  return update;
}

}  // namespace mpitron::nn
