#pragma once
#include <cstddef>
#include <cstring>
#include <span>

#include "utils/check.h"
#include "utils/numbers/shape.h"

namespace mpitron::io {

/// Elements of T as they lie in a file, at any alignment (the `.idx` header has 34 bytes). Does not
/// own the bytes.
template <class T>
class PackedArray {
 public:
  PackedArray() = default;
  PackedArray(const std::byte* data, Index size) : data_(data), size_(size) {}

  Index size() const { return size_; }
  T operator[](Index i) const {
    MPITRON_DCHECK(i >= 0 && i < size_, i, size_);
    T value;
    std::memcpy(&value, data_ + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    return value;
  }
  std::span<const std::byte> bytes() const {
    return {data_, static_cast<std::size_t>(size_) * sizeof(T)};
  }

 private:
  const std::byte* data_ = nullptr;
  Index size_ = 0;
};

}  // namespace mpitron::io
