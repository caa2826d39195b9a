#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "data/index/index_cache.h"
#include "data/index/small_index.h"
#include "support/corpus.h"
#include "utils/system/files.h"

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

using test::TemporaryFolder;

/// Ranks of a node, or two jobs: all ask at once, and one builds.
TEST(BuildLock, OfManyProcessesOneBuilds) {
  const TemporaryFolder folder;
  constexpr int kProcesses = 6;
  for (int child = 0; child < kProcesses; ++child) {
    if (::fork() == 0) {
      bool right = false;
      try {
        const IndexCache cache(folder / "cache", "C-train", "text", {.sequences = "some"});
        const auto arrays = cache.get(kNames, {{IndexCache::kAnyExtent}}, [&] {
          std::ofstream(folder / "builds", std::ios::app) << 'x';
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          return std::vector{some_array(1000)};
        });
        right = arrays[0].size() == 1000 && arrays[0][999] == 7;
      } catch (...) {
      }
      ::_exit(right ? 0 : 1);
    }
  }
  for (int child = 0; child < kProcesses; ++child) {
    int status = 1;
    ::wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_file(folder / "builds"), "x");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    EXPECT_EQ(entry.path().string().find("lock"), std::string::npos) << entry.path();
  }
}

/// Who holds the lock may die.
TEST(BuildLock, ABuilderThatDiesIsReplaced) {
  const TemporaryFolder folder;
  const auto get = [&](const std::function<std::vector<IndexArray>()>& build) {
    return IndexCache(folder.path(), "C-train", "text", {}).get(kNames, {{5}}, build);
  };
  const pid_t child = ::fork();
  if (child == 0) {
    get([]() -> std::vector<IndexArray> { ::_exit(0); });
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(get([] { return std::vector{some_array(5)}; })[0].size(), 5);
  EXPECT_EQ(get([]() -> std::vector<IndexArray> { throw std::logic_error("built"); })[0].size(), 5);
}

TEST(BuildLock, ABuildThatFailsLeavesTheWayFree) {
  const TemporaryFolder folder;
  const IndexCache cache(folder.path(), "C-train", "text", {});
  EXPECT_THROW(
      cache.get(kNames, {{5}}, []() -> std::vector<IndexArray> { throw std::runtime_error("no"); }),
      std::runtime_error);
  EXPECT_EQ(cache.get(kNames, {{5}}, [] { return std::vector{some_array(5)}; })[0].size(), 5);
}

}  // namespace build_lock_test

}  // namespace mpitron::data
