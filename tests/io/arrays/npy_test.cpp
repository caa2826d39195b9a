#include "io/arrays/npy.h"

#include <numeric>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::io {
namespace npy_test {

using test::message_of;
using test::TemporaryFolder;

// The file that numpy.save("x.npy", numpy.array([[1, 2], [3, 4]], dtype="int32")) writes.
std::string reference_file() {
  std::string text("\x93NUMPY\x01\x00\x76\x00", 10);
  text += "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }";
  text.resize(127, ' ');
  text += '\n';
  for (const char value : {1, 2, 3, 4}) {
    text += std::string{value, 0, 0, 0};
  }
  return text;
}

TEST(Npy, WritesWhatNumpyWrites) {
  const TemporaryFolder folder;
  write_npy<std::int32_t>(folder / "x.npy", std::vector<std::int32_t>{1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(read_file(folder / "x.npy"), reference_file());
}

template <class T>
class NpyTypes : public ::testing::Test {};
using Types = ::testing::Types<std::int32_t, std::int64_t, std::uint32_t, std::int16_t, float>;
TYPED_TEST_SUITE(NpyTypes, Types);

TYPED_TEST(NpyTypes, RoundTrip) {
  const TemporaryFolder folder;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
    std::vector<TypeParam> values(n);
    std::iota(values.begin(), values.end(), TypeParam{7});
    write_npy<TypeParam>(folder / "x.npy", values, {static_cast<Index>(n)});
    const NpyFile file(folder / "x.npy");
    EXPECT_EQ(file.shape(), std::vector<Index>{static_cast<Index>(n)});
    const auto array = file.template as<TypeParam>();
    ASSERT_EQ(array.size(), static_cast<Index>(n));
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(array[static_cast<Index>(i)], values[i]);
    }
  }
}

TEST(Npy, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  const auto opened = [&](const std::string& from, const std::string& to) {
    std::string text = reference_file();
    text.replace(text.find(from), from.size(), to);
    test::write_bytes(folder / "x.npy", text);
    return message_of([&] { NpyFile{folder / "x.npy"}.as<std::int32_t>(); });
  };
  EXPECT_EQ(opened("NUMPY", "NUMPY"), "");
  EXPECT_NE(opened("NUMPY", "NUMPX").find("magic"), std::string::npos);
  EXPECT_NE(opened("\x01", "\x07").find("version"), std::string::npos);
  EXPECT_NE(opened("<i4", "<i9").find("element type"), std::string::npos);
  EXPECT_NE(opened("<i4", "<f4").find("expected elements <i4, found <f4"), std::string::npos);
  EXPECT_NE(opened("False", "True ").find("fortran_order"), std::string::npos);
  EXPECT_NE(opened("(2, 2)", "(2,-2)").find("shape"), std::string::npos);
  EXPECT_NE(opened("(2, 2)", "(2, 3)").find("do not fit the shape"), std::string::npos);
}

TEST(Npy, MutationsNeverCrash) {
  const TemporaryFolder folder;
  test::for_each_mutation(reference_file(), 5000, [&](const std::string& bytes) {
    test::write_bytes(folder / "x.npy", bytes);
    try {
      const auto array = NpyFile(folder / "x.npy").as<std::int32_t>();
      EXPECT_EQ(array.size(), 4);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
    }
  });
}

}  // namespace npy_test
}  // namespace mpitron::io
