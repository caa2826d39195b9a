#include <gtest/gtest.h>

#include "io/hdf5/hdf5_file.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::io {
namespace hdf5_reading_test {

TEST(Hdf5Reading, TellsWhereItsDataSetsLie) {
  const test::TemporaryFolder folder;
  Hdf5File file(folder.path() / "a.h5", Hdf5File::Mode::create);
  const Index numbers = file.create_data_set({.name = "group/numbers", .shape = {5}});
  file.create_data_set({.name = "none", .shape = {0}, .dtype = DType::u16});
  EXPECT_EQ(numbers % 4096, 0);
  const std::vector<DataSet> expected = {
      {.name = "group/numbers", .shape = {5}, .dtype = DType::f32, .offset = numbers},
      {.name = "none", .shape = {0}, .dtype = DType::u16, .offset = 0}};
  EXPECT_EQ(file.data_sets({}), expected);
}

TEST(Hdf5Reading, TablesComeBack) {
  const test::TemporaryFolder folder;
  Hdf5File file(folder.path() / "a.h5", Hdf5File::Mode::create);
  const std::vector<std::uint64_t> words = {1, 2, 3, ~std::uint64_t{0}, 5, 6};
  const TableFields fields = {"a", "b", "c"};
  EXPECT_EQ(file.write_table("tables/full", fields, words) % 4096, 0);
  file.write_table("tables/empty", fields, {});
  EXPECT_EQ(file.read_table("tables/full", fields), words);
  EXPECT_EQ(file.read_table("tables/empty", fields), std::vector<std::uint64_t>());
  EXPECT_THROW(file.read_table("tables/full", {"a", "b"}), Error);
  EXPECT_THROW(file.read_table("tables/none", fields), Error);
}

}  // namespace hdf5_reading_test

}  // namespace mpitron::io
