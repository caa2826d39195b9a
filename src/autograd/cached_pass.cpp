#include "autograd/cached_pass.h"

#include <cstring>

namespace mpitron::autograd {

const KeyValueCache::Layer& KeyValueCache::layer(Index number, const Width& width) {
  if (static_cast<Index>(layers_.size()) < number) {
    layers_.resize(static_cast<std::size_t>(number));
  }
  Layer& layer = layers_[static_cast<std::size_t>(number - 1)];
  if (!layer.keys) {
    const auto memory = [&](Index size) {
      return Tensor::empty(device_, {blocks_, width.groups, block_size_, size}, width.dtype);
    };
    layer = {memory(width.key), memory(width.value)};
  }
  return layer;
}

void KeyValueCache::copy_block(Index from, Index to) {
  for (const Layer& layer : layers_) {
    for (const Tensor* tensor : {&layer.keys, &layer.values}) {
      if (*tensor) {
        const Tensor source = tensor->slice(0, from, from + 1),
                     target = tensor->slice(0, to, to + 1);
        std::memcpy(target.view().data, source.view().data,
                    static_cast<std::size_t>(source.view().bytes()));
      }
    }
  }
}

Index KeyValueCache::bytes() const {
  Index bytes = 0;
  for (const Layer& layer : layers_) {
    bytes += layer.keys ? layer.keys.view().bytes() + layer.values.view().bytes() : 0;
  }
  return bytes;
}

}  // namespace mpitron::autograd
