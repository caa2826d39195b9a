#include "utils/numbers/dtype.h"

#include <set>

#include <gtest/gtest.h>

namespace mpitron {
namespace dtype_test {

constexpr DType kAll[] = {DType::f32, DType::bf16, DType::f16, DType::f64, DType::u8,
                          DType::i8,  DType::u16,  DType::i16, DType::i32, DType::i64};

template <class T>
void expect_type(DType dtype, bool floating) {
  EXPECT_EQ(dtype_of<T>(), dtype);
  EXPECT_EQ(size_of(dtype), sizeof(T));
  EXPECT_EQ(is_floating(dtype), floating);
}

TEST(DType, SizesAndKindsAreThoseOfTheStorageTypes) {
  expect_type<float>(DType::f32, true);
  expect_type<double>(DType::f64, true);
  expect_type<BFloat16>(DType::bf16, true);
  expect_type<Float16>(DType::f16, true);
  expect_type<std::uint8_t>(DType::u8, false);
  expect_type<std::int8_t>(DType::i8, false);
  expect_type<std::uint16_t>(DType::u16, false);
  expect_type<std::int16_t>(DType::i16, false);
  expect_type<std::int32_t>(DType::i32, false);
  expect_type<std::int64_t>(DType::i64, false);
}

TEST(DType, NamesAreTheFieldsOwnAndDistinct) {
  EXPECT_STREQ(name_of(DType::bf16), "bf16");
  EXPECT_STREQ(name_of(DType::f32), "fp32");
  EXPECT_STREQ(name_of(DType::i64), "i64");
  std::set<std::string> names;
  for (const DType dtype : kAll) {
    names.insert(name_of(dtype));
  }
  EXPECT_EQ(names.size(), std::size(kAll));
}

TEST(DType, VisitsTrainingTypesOnly) {
  const auto size = []<class T>() { return dtype_of<T>(); };
  EXPECT_EQ(visit_dtype(DType::f32, size), DType::f32);
  EXPECT_EQ(visit_dtype(DType::bf16, size), DType::bf16);
  EXPECT_EQ(visit_dtype(DType::f16, size), DType::f16);
  EXPECT_THROW(visit_dtype(DType::i32, size), InternalError);
}

}  // namespace dtype_test
}  // namespace mpitron
