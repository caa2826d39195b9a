#include "io/hdf5/sealed_arrays.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::io {
namespace sealed_arrays_test {

constexpr SealedFormat kThings{.magic = "MPITHING",
                               .content = "things",
                               .writer = "a test",
                               .names = {"a", "b", "c", "d", "e"}};

void write(const std::string& path) {
  std::array<DataSet, kSealedArrays> arrays;
  for (DataSet& array : arrays) {
    array = {.name = {}, .shape = {3}, .dtype = DType::u8};
  }
  arrays[4].shape = {0};
  write_sealed(path, kThings, arrays, {{"format", std::string("things")}},
               [](std::size_t array, AtomicFile& file) {
                 file.write(std::string(3, static_cast<char>('x' + array)));
               });
}

TEST(SealedArrays, LieWhereTheSealSays) {
  const test::TemporaryFolder folder;
  write(folder / "x.h5");
  const MappedFile file(folder / "x.h5");
  const SealedArrays found = read_sealed(file, kThings);
  const ByteRange range = found.range(1);
  EXPECT_EQ(range.bytes, 3);
  EXPECT_EQ(file.text().substr(static_cast<std::size_t>(range.begin), 3), "yyy");
  EXPECT_EQ(found.range(4).bytes, 0);
  EXPECT_EQ(std::get<std::string>(found.attributes.at("format")), "things");
}

TEST(SealedArrays, FilesOfAnotherKindAreNamed) {
  const test::TemporaryFolder folder;
  write(folder / "x.h5");
  SealedFormat other = kThings;
  other.magic = "MPIOTHER";
  other.content = "other things";
  const MappedFile file(folder / "x.h5");
  EXPECT_NE(test::message_of([&] { read_sealed(file, other); }).find("the seal of other things"),
            std::string::npos);
}

}  // namespace sealed_arrays_test
}  // namespace mpitron::io
