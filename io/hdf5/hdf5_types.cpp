#include "io/hdf5/hdf5_types.h"

#include <algorithm>
#include <type_traits>

#include <hdf5.h>

namespace mpitron::io {

static_assert(std::is_same_v<hid_t, HdfId> && std::is_same_v<herr_t, int> &&
              std::is_same_v<hsize_t, HdfExtents::value_type>);

namespace {

HdfHandle half_type(std::size_t sign, std::size_t exponent, std::size_t exponent_bits,
                    std::size_t bias) {
  HdfHandle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type, sign, exponent, exponent_bits, 0, exponent);
  H5Tset_precision(type, 16);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, bias);
  return type;
}

}  // namespace

HdfHandle hdf_type(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return half_type(15, 7, 8, 127);
    case DType::f16:
      return half_type(15, 10, 5, 15);
    case DType::f32:
      return {H5Tcopy(H5T_IEEE_F32LE), H5Tclose};
    case DType::f64:
      return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
    case DType::u8:
      return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
    case DType::i8:
      return {H5Tcopy(H5T_STD_I8LE), H5Tclose};
    case DType::u16:
      return {H5Tcopy(H5T_STD_U16LE), H5Tclose};
    case DType::i16:
      return {H5Tcopy(H5T_STD_I16LE), H5Tclose};
    case DType::i32:
      return {H5Tcopy(H5T_STD_I32LE), H5Tclose};
    case DType::i64:
      return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
  }
  return {-1, nullptr};
}

HdfHandle text_type(std::size_t size) {
  HdfHandle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(size, 1));  // HDF5 has no empty ones
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

HdfHandle table_type(std::span<const char* const> fields) {
  HdfHandle type(H5Tcreate(H5T_COMPOUND, fields.size() * kTableWord), H5Tclose);
  std::size_t place = 0;
  for (const char* field : fields) {
    H5Tinsert(type, field, place, H5T_STD_U64LE);
    place += kTableWord;
  }
  return type;
}

HdfExtents hdf_extents(const Shape& shape) {
  HdfExtents extents{};
  for (int i = 0; i < shape.rank(); ++i) {
    extents[static_cast<std::size_t>(i)] = static_cast<hsize_t>(shape[i]);
  }
  return extents;
}

}  // namespace mpitron::io
