#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/arrays/element_type.h"
#include "io/arrays/packed_array.h"
#include "utils/numbers/shape.h"
#include "utils/system/files.h"

namespace mpitron::io {

struct SafetensorsEntry {
  std::string name;
  ElementType type = ElementType::f32;
  std::vector<Index> shape;
};

/// Number of elements; -1 when an extent is negative or the size in bytes does not fit 63 bits.
Index checked_numel(const SafetensorsEntry& entry);

using SafetensorsMetadata = std::map<std::string, std::string>;

/// A safetensors file, memory mapped. Opening checks the header in full: types, shapes against byte
/// ranges, and that the ranges cover the data without gap or overlap. Error(data) names file,
/// tensor and expectation.
class SafetensorsFile {
 public:
  struct Tensor : SafetensorsEntry {
    std::span<const std::byte> data;  ///< at any alignment

    template <class T>
    PackedArray<T> as() const {
      MPITRON_CHECK(type == element_type_of<T>(), name);
      return {data.data(), static_cast<Index>(data.size() / sizeof(T))};
    }
  };

  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  const SafetensorsMetadata& metadata() const { return metadata_; }
  const Tensor* find(const std::string& name) const;
  /// Error(data) when there is no such tensor.
  const Tensor& at(const std::string& name) const;

 private:
  std::size_t header_bytes() const;
  void check_coverage(std::span<const std::byte> data) const;

  MappedFile file_;
  std::map<std::string, Tensor> tensors_;
  SafetensorsMetadata metadata_;
};

/// Writes a safetensors file front to back: the layout first, then the data of each entry in the
/// order given.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path& path, std::span<const SafetensorsEntry> layout,
                    const SafetensorsMetadata& metadata = {});

  void write(std::span<const std::byte> data);
  /// All bytes that the layout promises must have been written.
  void commit();

 private:
  AtomicFile file_;
  Index remaining_ = 0;  // bytes
};

/// Bytes in front of the header, which hold its length.
inline constexpr std::size_t kPrefixBytes = 8;  // u64, length of the header

/// The entry of the header that is no tensor.
inline constexpr const char* kMetadata = "__metadata__";

}  // namespace mpitron::io
