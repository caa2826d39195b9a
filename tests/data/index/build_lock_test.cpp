#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "data/index/index_cache.h"
#include "support/corpus.h"

namespace mpitron::data {
namespace build_lock_test {

TEST(BuildLock, LetsOneInAtATime) {
  const test::TemporaryFolder folder;
  std::atomic<int> inside{0};
  std::atomic<int> together{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const BuildLock lock(folder / "lock");
        together += ++inside > 1 ? 1 : 0;
        std::this_thread::yield();
        --inside;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(together, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "lock"));
}

TEST(BuildLock, IsNoObstacleWhereThereCanBeNone) {
  const BuildLock lock("/nowhere/to/be/found/lock");
  const BuildLock second("/nowhere/to/be/found/lock");  // does not wait for the first
  EXPECT_FALSE(std::filesystem::exists("/nowhere"));
}

}  // namespace build_lock_test
}  // namespace mpitron::data
