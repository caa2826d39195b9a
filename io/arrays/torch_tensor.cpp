#include <cstring>

#include "io/arrays/torch_archive.h"
#include "utils/error.h"

// A tensor of a PyTorch archive: its extents, its strides, its elements in order.

namespace mpitron::io {
namespace {

using Kind = PickleValue::Kind;

constexpr int kMostDimensions = 16;

}  // namespace

Index TorchTensor::numel() const {
  Index n = 1;
  for (const Index extent : shape) {
    n *= extent;
  }
  return n;
}

bool TorchTensor::contiguous() const {
  Index expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && stride[i] != expected) {
      return false;
    }
    expected *= shape[i];
  }
  return true;
}

void TorchTensor::copy_to(std::byte* out) const {
  const std::size_t size = size_of(type);
  const Index count = numel();
  if (contiguous()) {
    std::memcpy(out, storage.data(), static_cast<std::size_t>(count) * size);
    return;
  }
  std::vector<Index> at(shape.size());
  for (Index i = 0; i < count; ++i) {
    Index from = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      from += at[d] * stride[d];
    }
    std::memcpy(out + static_cast<std::size_t>(i) * size,
                storage.data() + static_cast<std::size_t>(from) * size, size);
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == shape[d];) {
      at[d] = 0;
    }
  }
}

bool read_extents(const PickleValue& value, std::vector<Index>& out) {
  const PickleValue* list = &value;
  if (value.is_object_of("torch.Size")) {
    if (value.arguments->items.size() != 1) {
      return false;
    }
    list = value.arguments->items[0];
  }
  out.clear();
  if ((list->kind != Kind::tuple && list->kind != Kind::list) ||
      list->items.size() > kMostDimensions) {
    return false;
  }
  for (const PickleValue* item : list->items) {
    if (item->kind != Kind::integer || item->integer < 0) {
      return false;
    }
    out.push_back(item->integer);
  }
  return true;
}

}  // namespace mpitron::io
