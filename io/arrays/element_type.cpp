#include "io/arrays/element_type.h"

#include <algorithm>
#include <array>

namespace mpitron::io {
namespace {

struct Row {
  std::string_view safetensors;
  std::string_view npy;
};

// In the order of ElementType.
constexpr std::array<Row, 15> kRows{{{"BOOL", "|b1"},
                                     {"U8", "|u1"},
                                     {"I8", "|i1"},
                                     {"F8_E4M3", ""},
                                     {"F8_E5M2", ""},
                                     {"U16", "<u2"},
                                     {"I16", "<i2"},
                                     {"F16", "<f2"},
                                     {"BF16", ""},
                                     {"U32", "<u4"},
                                     {"I32", "<i4"},
                                     {"F32", "<f4"},
                                     {"U64", "<u8"},
                                     {"I64", "<i8"},
                                     {"F64", "<f8"}}};

std::optional<ElementType> find(std::string_view name, std::string_view Row::*column) {
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [&](const Row& r) { return !name.empty() && r.*column == name; });
  if (row == kRows.end()) {
    return std::nullopt;
  }
  return static_cast<ElementType>(row - kRows.begin());
}

// In the order of DType.
constexpr ElementType kOfDType[] = {
    ElementType::f32, ElementType::bf16, ElementType::f16, ElementType::f64, ElementType::u8,
    ElementType::i8,  ElementType::u16,  ElementType::i16, ElementType::i32, ElementType::i64};

}  // namespace

std::string_view safetensors_name(ElementType type) {
  return kRows[static_cast<std::size_t>(type)].safetensors;
}

std::optional<ElementType> from_safetensors_name(std::string_view name) {
  return find(name, &Row::safetensors);
}

std::string_view npy_name(ElementType type) {
  return kRows[static_cast<std::size_t>(type)].npy;
}

std::optional<ElementType> from_npy_name(std::string_view name) {
  return find(name, &Row::npy);
}

ElementType element_type(DType dtype) {
  return kOfDType[static_cast<std::size_t>(dtype)];
}

std::optional<DType> dtype_of(ElementType type) {
  const auto* row = std::find(std::begin(kOfDType), std::end(kOfDType), type);
  if (row == std::end(kOfDType)) {
    return std::nullopt;
  }
  return static_cast<DType>(row - std::begin(kOfDType));
}

}  // namespace mpitron::io
