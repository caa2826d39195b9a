#include "data/images/shard_index.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace shard_index_test {

TEST(ShardIndex, ComesBack) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "a.tar", std::string(3000, 'x'));
  const MappedFile shard(folder / "a.tar");
  const std::filesystem::path path = shard_index_path(shard.path(), {});
  EXPECT_EQ(path, folder / "a.tar.index");
  EXPECT_FALSE(read_shard_index(path, shard).has_value());
  const std::vector<io::TarMember> members = {{"a b.jpg", 512, 3}, {"c.txt", 1536, 0}};
  write_shard_index(path, shard, members);
  EXPECT_EQ(read_shard_index(path, shard), members);
}

TEST(ShardIndex, PlacesOutsideOfTheShardAreRefused) {
  EXPECT_TRUE(shard_member_of("512 3 a", 515).has_value());
  EXPECT_FALSE(shard_member_of("512 3 a", 514).has_value());
  EXPECT_FALSE(shard_member_of("512 -3 a", 515).has_value());
  EXPECT_FALSE(shard_member_of("512 3", 515).has_value());
}

TEST(ShardIndex, ShardsOfOneNameHaveIndicesOfTheirOwn) {
  const std::filesystem::path one = shard_index_path("x/a.tar", "/i"),
                              other = shard_index_path("y/a.tar", "/i");
  EXPECT_NE(one, other);
  EXPECT_EQ(one.parent_path(), "/i");
}

}  // namespace shard_index_test
}  // namespace mpitron::data
