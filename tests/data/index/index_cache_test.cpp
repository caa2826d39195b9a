#include "data/index/index_cache.h"

#include <thread>

#include <gtest/gtest.h>

#include "data/index/small_index.h"
#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron::data {
namespace index_cache_test {

using test::TemporaryFolder;

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

}  // namespace index_cache_test

}  // namespace mpitron::data
