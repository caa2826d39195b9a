#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

// What HDF5 is given. Only .cpp files see its own header; hdf5_types.cpp checks that these are its
// types.

namespace mpitron::io {

using HdfId = std::int64_t;  // hid_t

/// An identifier of HDF5 and the function that gives it back.
class HdfHandle {
 public:
  HdfHandle(HdfId id, int (*close)(HdfId)) : id_(id), close_(close) {}
  ~HdfHandle() {
    if (id_ >= 0 && close_ != nullptr) {
      close_(id_);
    }
  }
  HdfHandle(HdfHandle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  HdfHandle& operator=(HdfHandle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  operator HdfId() const { return id_; }  // NOLINT(google-explicit-constructor): what HDF5 takes
  int close() { return close_(std::exchange(id_, -1)); }

 private:
  HdfId id_;
  int (*close_)(HdfId);
};

inline constexpr std::size_t kTableWord = sizeof(std::uint64_t);

inline constexpr DType kDTypes[] = {DType::f32, DType::bf16, DType::f16, DType::f64, DType::u8,
                                    DType::i8,  DType::u16,  DType::i16, DType::i32, DType::i64};
/// How files hold elements of a type.
HdfHandle hdf_type(DType dtype);
/// A text of a fixed size, in UTF-8.
HdfHandle text_type(std::size_t size);
/// Records of one 64-bit word for each field.
HdfHandle table_type(std::span<const char* const> fields);

using HdfExtents = std::array<unsigned long long, Shape::kMaxRank>;  // hsize_t
HdfExtents hdf_extents(const Shape& shape);

}  // namespace mpitron::io
