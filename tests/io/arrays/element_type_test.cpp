#include "io/arrays/element_type.h"

#include <set>

#include <gtest/gtest.h>

namespace mpitron::io {
namespace element_type_test {

constexpr int kTypes = static_cast<int>(ElementType::f64) + 1;

TEST(ElementType, NamesLeadBackToTheType) {
  std::set<std::string_view> safetensors, npy;
  for (int i = 0; i < kTypes; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(from_safetensors_name(safetensors_name(type)), type) << i;
    EXPECT_TRUE(safetensors.insert(safetensors_name(type)).second) << i;
    if (!npy_name(type).empty()) {
      EXPECT_EQ(from_npy_name(npy_name(type)), type) << i;
      EXPECT_TRUE(npy.insert(npy_name(type)).second) << i;
    }
  }
}

TEST(ElementType, NamesAreThoseOfTheFormats) {
  EXPECT_EQ(safetensors_name(ElementType::f32), "F32");
  EXPECT_EQ(safetensors_name(ElementType::bf16), "BF16");
  EXPECT_EQ(safetensors_name(ElementType::boolean), "BOOL");
  EXPECT_EQ(npy_name(ElementType::i32), "<i4");
  EXPECT_EQ(npy_name(ElementType::i64), "<i8");
  EXPECT_EQ(npy_name(ElementType::u32), "<u4");
  EXPECT_EQ(npy_name(ElementType::bf16), "");  // numpy has none
  EXPECT_EQ(from_npy_name(""), std::nullopt);
  EXPECT_EQ(from_npy_name(">i4"), std::nullopt);  // big endian
  EXPECT_EQ(from_safetensors_name("f32"), std::nullopt);
}

TEST(ElementType, CoversEveryDTypeWithItsSize) {
  for (int i = 0; i <= static_cast<int>(DType::i64); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_of(element_type(dtype)), dtype);
    EXPECT_EQ(size_of(element_type(dtype)), mpitron::size_of(dtype));
  }
  EXPECT_EQ(dtype_of(ElementType::u64), std::nullopt);
  EXPECT_EQ(dtype_of(ElementType::f8_e4m3), std::nullopt);
}

TEST(ElementType, OfATypeHasItsSize) {
  EXPECT_EQ(element_type_of<std::uint32_t>(), ElementType::u32);
  EXPECT_EQ(size_of(element_type_of<std::uint64_t>()), sizeof(std::uint64_t));
  EXPECT_EQ(size_of(element_type_of<std::int16_t>()), sizeof(std::int16_t));
  EXPECT_EQ(size_of(element_type_of<double>()), sizeof(double));
}

}  // namespace element_type_test
}  // namespace mpitron::io
