#include <cstring>

#include <gtest/gtest.h>

#include "checkpoint/tools/inspection.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"

namespace mpitron::checkpoint {
namespace compare_test {

TEST(Compare, TheOrderOfWritingDoesNotMatter) {
  const test::TemporaryFolder folder;
  test::write_sample(folder.path() / "a.h5");
  auto data_sets = test::sample_data_sets();
  std::reverse(data_sets.begin(), data_sets.end());
  Header header = test::sample_header();
  header.layout = header.build = header.configuration = "other";
  test::write_checkpoint(folder.path() / "b.h5", header, data_sets);
  const File a(folder.path() / "a.h5"), b(folder.path() / "b.h5");
  EXPECT_NE(a.find("model/half")->offset, b.find("model/half")->offset);
  EXPECT_TRUE(differences(a, b).empty());
  EXPECT_TRUE(differences(a.header(), b.header()).empty());
}

TEST(Compare, NamesShapesTypes) {
  const test::TemporaryFolder folder;
  test::write_checkpoint(folder.path() / "a.h5", {},
                         {{.name = "one", .shape = {1}},
                          {.name = "shape", .shape = {2, 3}},
                          {.name = "same", .shape = {3}},
                          {.name = "type", .shape = {1}}});
  test::write_checkpoint(folder.path() / "b.h5", {},
                         {{.name = "other", .shape = {1}},
                          {.name = "shape", .shape = {3, 2}},
                          {.name = "same", .shape = {3}},
                          {.name = "type", .shape = {1}, .dtype = DType::i32}});
  const auto found = differences(File(folder.path() / "a.h5"), File(folder.path() / "b.h5"));
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].name + ": " + found[0].what, "one: only in A");
  EXPECT_EQ(found[1].name + ": " + found[1].what, "other: only in B");
  EXPECT_EQ(found[2].name + ": " + found[2].what, "shape: shape [2, 3] in A and [3, 2] in B");
  EXPECT_EQ(found[3].name + ": " + found[3].what, "type: fp32 in A and i32 in B");
}

TEST(Compare, CountsElementsOverBlocks) {
  const test::TemporaryFolder folder;
  const Index n = (Index{2} << 20) + 5;
  const auto path_a = folder.path() / "a.h5", path_b = folder.path() / "b.h5";
  for (const auto& path : {path_a, path_b}) {
    test::write_checkpoint(path, {}, {{.name = "x", .shape = {n}, .dtype = DType::i32}});
  }
  const File a(path_a), b(path_b);
  PosixFile plain(path_b, PosixFile::Mode::modify);
  for (const auto& [index, change] : {std::pair{Index{77}, 5}, {(Index{2} << 20) + 1, -9}}) {
    const auto value = static_cast<std::int32_t>(index + change);
    plain.write(b.data_sets()[0].offset + index * 4, &value, 4);
  }
  const auto found = differences(a, b);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "x");
  EXPECT_EQ(found[0].elements, 2);
  EXPECT_EQ(found[0].largest, 9);
  EXPECT_EQ(found[0].first, 77);
}

TEST(Compare, HeadersDifferInWhatTrainingNeeds) {
  const Header a = test::sample_header(7);
  Header b = test::sample_header(8);
  b.reals["loss_scaler/scale"] = 1;
  b.texts.erase("empty");
  b.files["merges.txt"] = "x y";
  const auto found = differences(a, b);
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[1], "attribute iteration: 7 in A and 8 in B");
  EXPECT_EQ(found[3], "state loss_scaler/scale: 65536 in A and 1 in B");
  EXPECT_EQ(found[4], "state empty: only in A");
  EXPECT_EQ(found[5].substr(0, 22), "file merges.txt: XXH3 ");
}

}  // namespace compare_test
}  // namespace mpitron::checkpoint
