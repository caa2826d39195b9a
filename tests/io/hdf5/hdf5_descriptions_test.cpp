#include <gtest/gtest.h>

#include "io/hdf5/hdf5_file.h"
#include "support/temporary_folder.h"

namespace mpitron::io {
namespace hdf5_descriptions_test {

TEST(Hdf5Descriptions, AttributesAreNumbersOrTexts) {
  const test::TemporaryFolder folder;
  Hdf5File file(folder.path() / "a.h5", Hdf5File::Mode::create);
  const Attributes attributes = {
      {"count", Index{-7}}, {"rate", 0.25}, {"text", std::string("words")}};
  file.set_attributes("/", attributes);
  EXPECT_EQ(file.attributes("/"), attributes);
}

TEST(Hdf5Descriptions, ShapesAndTypesComeBack) {
  const test::TemporaryFolder folder;
  Hdf5File file(folder.path() / "a.h5", Hdf5File::Mode::create);
  file.create_data_set({.name = "a", .shape = {2, 3}, .dtype = DType::bf16});
  const std::vector<DataSet> found = file.data_sets({});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].shape, (Shape{2, 3}));
  EXPECT_EQ(found[0].dtype, DType::bf16);
}

}  // namespace hdf5_descriptions_test
}  // namespace mpitron::io
