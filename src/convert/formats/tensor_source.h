#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

namespace mpitron::convert {

/// Name, shape and type of a tensor, without its data.
struct TensorInfo {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;

  Index bytes() const { return shape.numel() * static_cast<Index>(size_of(dtype)); }
  bool operator==(const TensorInfo&) const = default;
};

/// A row-major tensor in host memory: its own, or a view of a mapped file that lives longer.
class HostTensor {
 public:
  /// Makes a tensor of zeros with memory of its own.
  explicit HostTensor(const TensorInfo& info)
      : shape_(info.shape),
        dtype_(info.dtype),
        own_(static_cast<std::size_t>(info.bytes())),
        bytes_(own_) {}
  /// Makes a view of bytes that live longer.
  HostTensor(const TensorInfo& info, std::span<const std::byte> bytes)
      : shape_(info.shape), dtype_(info.dtype), bytes_(bytes) {
    MPITRON_CHECK(static_cast<Index>(bytes.size()) == info.bytes(), info.name);
  }
  HostTensor(HostTensor&&) = default;
  HostTensor& operator=(HostTensor&&) = default;
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Returns the memory to write to; only for a tensor with memory of its own.
  std::byte* data() {
    MPITRON_CHECK(own_.size() == bytes_.size(), own_.size());
    return own_.data();
  }

 private:
  Shape shape_;
  DType dtype_;
  std::vector<std::byte> own_;
  std::span<const std::byte> bytes_;
};

/// Returns the values in another floating-point type, rounded to nearest even.
HostTensor cast(const HostTensor& tensor, DType dtype);
/// Returns the tensor itself where it has that type already.
HostTensor cast(HostTensor&& tensor, DType dtype);

/// A model's tensors under the names of some format, read one at a time.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  /// Lists all tensors, in the order in which reading is cheapest.
  virtual const std::vector<TensorInfo>& tensors() const = 0;
  /// Reads a tensor of the list. The result may view memory of the source. Error(data) names file
  /// and tensor.
  virtual HostTensor read(const std::string& name) = 0;

  /// Returns the tensor of this name; null where there is none.
  const TensorInfo* find(const std::string& name) const;
  /// Returns the bytes of all tensors.
  Index bytes() const;
};

/// Returns a view of `source`, which outlives it, with all tensors in one floating-point type.
std::unique_ptr<TensorSource> cast_source(TensorSource& source, DType dtype);

/// Called after each tensor: bytes so far, of how many, and what was just done.
using Progress = std::function<void(Index done, Index total, const std::string& name)>;

}  // namespace mpitron::convert
