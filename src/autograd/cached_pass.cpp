// Keeps what generation has beside parameters: packed weights, the cache of keys and values, states
// of recurrent layers. All are allocated when a layer first asks, since a rank has only its layers.
#include "autograd/cached_pass.h"

#include <algorithm>
#include <cstdint>

#include "device/allocator.h"
#include "kernels/linear/packed_matmul.h"
#include "tensor/host_copy.h"
#include "tensor/shape_alone.h"

namespace mpitron::autograd {
namespace {

void copy_place(device::Device& device, const Tensor& tensor, Index from, Index to) {
  tensor::copy_bytes(device, tensor.slice(0, from, from + 1).view(),
                     tensor.slice(0, to, to + 1).view());
}

template <class T>
T& at_least(std::vector<T>& values, Index index) {
  if (static_cast<Index>(values.size()) <= index) {
    values.resize(static_cast<std::size_t>(index) + 1);
  }
  return values[static_cast<std::size_t>(index)];
}

}  // namespace

const KeyValueCache::Layer& KeyValueCache::layer(Index number, const Width& width) {
  Layer& layer = at_least(layers_, number - 1);
  if (!layer.keys) {
    layer = {.keys = memory(width, width.key),
             .values = memory(width, width.value),
             .key_scales = scales(width, width.key),
             .value_scales = scales(width, width.value)};
  }
  return layer;
}

Tensor KeyValueCache::memory(const Width& width, Index numbers) const {
  return numbers == 0 ? Tensor()
                      : Tensor::empty(device_, {blocks_, width.groups, block_size_, numbers},
                                      kernels::stored_dtype(type_, width.dtype));
}

Tensor KeyValueCache::scales(const Width& width, Index numbers) const {
  return numbers == 0 || type_ != kernels::CacheType::e4m3
             ? Tensor()
             : Tensor::empty(device_, {blocks_, width.groups, block_size_}, DType::u8);
}

void KeyValueCache::copy_block(Index from, Index to) {
  for (const Layer& layer : layers_) {
    for (const Tensor* tensor : layer.tensors()) {
      if (*tensor) {
        copy_place(device_, *tensor, from, to);
      }
    }
  }
}

void KeyValueCache::prepare(Index used) {
  if (!device_.tensors_on_host()) {
    return;
  }
  constexpr auto kPage = static_cast<Index>(device::kHugePage);
  ready_.resize(std::tuple_size_v<decltype(Layer().tensors())> * layers_.size());
  std::size_t number = 0;
  for (const Layer& layer : layers_) {
    for (const Tensor* tensor : layer.tensors()) {
      Index& ready = ready_[number++];
      const Index bytes = *tensor ? tensor->view().bytes() : 0;
      const Index ahead = kPage * static_cast<Index>(number) / static_cast<Index>(ready_.size());
      const auto before = static_cast<Index>(reinterpret_cast<std::uintptr_t>(tensor->view().data) %
                                             std::uintptr_t{kPage});  // tensors begin within a page
      const Index wanted = before + used * (bytes / blocks_) + ahead;
      const Index end = std::min(bytes, (wanted + kPage - 1) / kPage * kPage - before);
      if (end > ready) {
        device::back_with_memory(static_cast<char*>(tensor->view().data) + ready,
                                 static_cast<std::size_t>(end - ready));
        ready = end;
      }
    }
  }
}

Index KeyValueCache::bytes() const {
  Index bytes = 0;
  for (const Layer& layer : layers_) {
    for (const Tensor* tensor : layer.tensors()) {
      bytes += tensor->view().bytes();
    }
  }
  return bytes;
}

const Tensor& LayerStates::of(Index number, Index part, const Shape& of_one, DType dtype) {
  Tensor& state = at_least(at_least(layers_, number - 1), part);
  if (!state) {
    Shape shape = {places_};
    for (int i = 0; i < of_one.rank(); ++i) {
      shape.push_back(of_one[i]);
    }
    state = Tensor::empty(device_, shape, dtype);
  }
  return state;
}

void LayerStates::copy(Index from, Index to) {
  for (const std::vector<Tensor>& parts : layers_) {
    for (const Tensor& state : parts) {
      copy_place(device_, state, from, to);
    }
  }
}

Index LayerStates::bytes() const {
  Index bytes = 0;
  for (const std::vector<Tensor>& parts : layers_) {
    for (const Tensor& state : parts) {
      bytes += state.view().bytes();
    }
  }
  return bytes;
}

/// [heads, n, k], one behind the other.
Tensor PackedWeights::pack(const Tensor& weights) {
  const Index heads = weights.shape()[0], n = weights.shape()[1], k = weights.shape()[2];
  const Index bytes = kernels::packed_bytes(format_, n, k);
  const Tensor packed = Tensor::empty(device_, {heads * bytes}, DType::u8);
  for (Index head = 0; head < heads; ++head) {
    device::launch(
        device_.stream(),
        kernels::PackWeight{.weight = weights.slice(0, head, head + 1).reshape({n, k}).view(),
                            .packed = packed.slice(0, head * bytes, (head + 1) * bytes).view(),
                            .format = format_});
  }
  bytes_ += packed.view().bytes();
  return packed;
}

const Tensor& PackedWeights::of(const Parameter& weight) {
  const auto [place, missing] = whole_.try_emplace(&weight);
  if (missing) {
    const Shape& shape = weight.value.shape();
    place->second = pack(weight.value.reshape({1, shape[0], shape[1]}));
  }
  return place->second;
}

void PackedWeights::take(Parameter& weight) {
  of(weight);
  weight.value = tensor::shape_alone(weight.value);
}

const Tensor& PackedWeights::of_heads(const Parameter& weight, int part,
                                      const std::function<Tensor()>& make) {
  const auto [place, missing] = of_heads_.try_emplace({&weight, part});
  if (missing) {
    place->second = pack(make());
  }
  return place->second;
}

Adapter::Adapter(device::Device& device, DType type, Index number,
                 std::shared_ptr<ParameterList> parameters, std::map<std::string, Factors> factors)
    : number_(number),
      parameters_(std::move(parameters)),
      factors_(std::move(factors)),
      weights_(device, kernels::weight_format(type)) {}

const Adapter::Factors* Adapter::find(const std::string& part) const {
  const auto found = factors_.find(part);
  return found == factors_.end() ? nullptr : &found->second;
}

Adapter::Joined* Adapter::of_layer(const std::string& first_part,
                                   const std::function<Joined()>& make) {
  auto found = joined_.find(first_part);
  if (found == joined_.end()) {
    found = joined_.emplace(first_part, make()).first;
  }
  return found->second.a.value ? &found->second : nullptr;
}

}  // namespace mpitron::autograd
