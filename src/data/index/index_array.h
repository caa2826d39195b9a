#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "io/arrays/npy.h"
#include "utils/check.h"
#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Integers of an index, in memory or mapped from a `.npy` file, read as int64 whatever their
/// width. Cheap to copy.
class IndexArray {
 public:
  IndexArray() = default;

  template <class T>
  explicit IndexArray(std::vector<T> values) : type_(io::element_type_of<T>()) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    bytes_ = std::as_bytes(std::span(*owner));
    owner_ = std::move(owner);
  }
  explicit IndexArray(io::NpyFile file) : type_(file.type()) {
    auto owner = std::make_shared<const io::NpyFile>(std::move(file));
    bytes_ = owner->data();
    owner_ = std::move(owner);
  }

  io::ElementType type() const { return type_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  Index size() const { return static_cast<Index>(bytes_.size() / io::size_of(type_)); }

  Index operator[](Index i) const {
    MPITRON_DCHECK(i >= 0 && i < size(), i, size());
    switch (type_) {
      case io::ElementType::i16:
        return io::PackedArray<std::int16_t>(bytes_.data(), size())[i];
      case io::ElementType::i32:
        return io::PackedArray<std::int32_t>(bytes_.data(), size())[i];
      case io::ElementType::u32:
        return io::PackedArray<std::uint32_t>(bytes_.data(), size())[i];
      default:
        return io::PackedArray<std::int64_t>(bytes_.data(), size())[i];
    }
  }

 private:
  io::ElementType type_ = io::ElementType::i64;
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

}  // namespace mpitron::data
