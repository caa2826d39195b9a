#include "data/images/tar_shards.h"

#include <array>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/tar.h"

namespace mpitron::data {
namespace tar_shards_test {

TEST(TarShards, SamplesAreNeighboursOfOneName) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "a.tar", test::tar_of({{"d.x/1.jpg", "a"},
                                                    {"d.x/1.seg.PNG", "b"},
                                                    {"README", "c"},
                                                    {".hidden.jpg", "d"},
                                                    {"2.jpg", "e"},
                                                    {"d.x/1.cls", "f"}}));
  const TarShards shards(folder / "a.tar", {});
  ASSERT_EQ(shards.samples().size(), 3u);
  const TarShards::Sample& first = shards.samples()[0];
  EXPECT_EQ(first.key, "d.x/1");
  ASSERT_EQ(first.parts.size(), 2u);
  EXPECT_EQ(first.parts[1].ending, "seg.png");
  EXPECT_EQ(shards.bytes(first, first.parts[1]), "b");
  static constexpr std::array<std::string_view, 2> kWanted{"cls", "seg.png"};
  EXPECT_EQ(TarShards::find(first, kWanted), &first.parts[1]);
  EXPECT_EQ(TarShards::find(shards.samples()[1], kWanted), nullptr);
  EXPECT_TRUE(shards_of(folder / "b.h5").empty());
}

}  // namespace tar_shards_test
}  // namespace mpitron::data
