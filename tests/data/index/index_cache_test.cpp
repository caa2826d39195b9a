#include "data/index/index_cache.h"

#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron::data {
namespace index_cache_test {

using test::TemporaryFolder;

const std::vector<std::string> kNames{"x"};

IndexArray some_array(Index n) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(n), 7);
  return IndexArray(std::move(values));
}

TEST(IndexCache, UsesTheReferenceNames) {
  const IndexCache cache("/folder", "GPTDataset-train", "abc", {});
  EXPECT_EQ(cache.path("document_index.npy"),
            "/folder/900150983cd24fb0d6963f7d28e17f72-GPTDataset-train-document_index.npy");
}

TEST(IndexCache, LoadsOnlyWhatFits) {
  const TemporaryFolder folder;
  const IndexCache cache(folder.path(), "C-train", "text", {});
  EXPECT_FALSE(cache.load(kNames, {{5}}));
  cache.store(kNames, {{5}}, {some_array(5)});
  EXPECT_EQ(read_file(cache.path("description.txt")), "text");
  EXPECT_TRUE(cache.load(kNames, {{5}}));
  EXPECT_FALSE(cache.load(kNames, {{6}}));
  EXPECT_FALSE(IndexCache(folder.path(), "C-train", "other", {}).load(kNames, {{5}}));
}

/// A corpus may be made anew under its name, and others write caches without a word on the content.
TEST(IndexCache, LoadsOnlyWhatWasBuiltFromTheSameSequences) {
  const TemporaryFolder folder;
  const IndexCache before(folder.path(), "C-train", "text", {.sequences = "before"});
  const IndexCache after(folder.path(), "C-train", "text", {.sequences = "after"});
  before.store(kNames, {{5}}, {some_array(5)});
  EXPECT_TRUE(before.load(kNames, {{5}}));
  EXPECT_FALSE(after.load(kNames, {{5}}));
  after.store(kNames, {{5}}, {some_array(5)});
  EXPECT_TRUE(after.load(kNames, {{5}}));
  EXPECT_FALSE(before.load(kNames, {{5}}));
  std::filesystem::remove(after.path("content.txt"));
  EXPECT_FALSE(after.load(kNames, {{5}}));
}

TEST(IndexCache, AnEmptyFolderMeansNoCache) {
  const IndexCache cache("", "C-train", "text", {});
  cache.store(kNames, {{5}}, {some_array(5)});
  EXPECT_FALSE(cache.load(kNames, {{5}}));
}

TEST(IndexCache, AFolderThatCannotBeMadeIsNoError) {
  const TemporaryFolder folder;
  test::write_bytes(folder / "file", "");
  const IndexCache cache(folder / "file/below", "C-train", "text", {});
  cache.store(kNames, {{5}}, {some_array(5)});
  EXPECT_FALSE(cache.load(kNames, {{5}}));
}

TEST(IndexCache, ManyWritersNeverShowAHalfWrittenFile) {
  const TemporaryFolder folder;
  const Index n = 50000;
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&] {
      const IndexCache cache(folder.path(), "C-train", "text", {});
      for (int i = 0; i < 5; ++i) {
        cache.store(kNames, {{n}}, {some_array(n)});
        const auto found = cache.load(kNames, {{n}});
        ASSERT_TRUE(found);
        ASSERT_EQ((*found)[0][n - 1], 7);
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  Index files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_NE(entry.path().extension(), ".tmp");
    ++files;
  }
  EXPECT_EQ(files, 3);
}

/// Ranks of a node, or two jobs: all ask at once, and one builds.
TEST(IndexCache, OfManyProcessesOneBuilds) {
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
TEST(IndexCache, ABuilderThatDiesIsReplaced) {
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

TEST(IndexCache, ABuildThatFailsLeavesTheWayFree) {
  const TemporaryFolder folder;
  const IndexCache cache(folder.path(), "C-train", "text", {});
  EXPECT_THROW(
      cache.get(kNames, {{5}}, []() -> std::vector<IndexArray> { throw std::runtime_error("no"); }),
      std::runtime_error);
  EXPECT_EQ(cache.get(kNames, {{5}}, [] { return std::vector{some_array(5)}; })[0].size(), 5);
}

}  // namespace index_cache_test
}  // namespace mpitron::data
