#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "io/arrays/element_type.h"
#include "io/arrays/packed_array.h"
#include "utils/numbers/shape.h"
#include "utils/system/files.h"

namespace mpitron::io {

/// A numpy `.npy` file (versions 1 to 3, C order, little endian), memory mapped. Every header field
/// is checked against the size of the file; Error(data) names file, offset and expectation.
class NpyFile {
 public:
  explicit NpyFile(const std::filesystem::path& path);

  ElementType type() const { return type_; }
  const std::vector<Index>& shape() const { return shape_; }
  Index numel() const { return static_cast<Index>(data_.size() / size_of(type_)); }
  std::span<const std::byte> data() const { return data_; }

  /// The elements; Error(data) when the file holds another type.
  template <class T>
  PackedArray<T> as() const {
    require(element_type_of<T>());
    return {data_.data(), numel()};
  }

 private:
  void parse_header(std::string_view header);
  void require(ElementType type) const;

  MappedFile file_;
  ElementType type_ = ElementType::i32;
  std::vector<Index> shape_;
  std::span<const std::byte> data_;
};

/// Writes (atomically) version 1.0, as numpy.save does. The product of `shape` is the number of
/// elements.
void write_npy(const std::filesystem::path& path, ElementType type, const std::vector<Index>& shape,
               std::span<const std::byte> data);

template <class T>
void write_npy(const std::filesystem::path& path, std::span<const T> values,
               const std::vector<Index>& shape) {
  write_npy(path, element_type_of<T>(), shape, std::as_bytes(values));
}

}  // namespace mpitron::io
