#include "doctor/file_system_check.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace mpitron::doctor {
namespace file_system_check_test {

FileSystemFacts good() {
  return {.folder = "/runs",
          .type = "lustre",
          .bytes = Index{100} << 30,
          .free = Index{60} << 30,
          .error = "",
          .shared_bytes_per_s = 2e9,
          .separate_bytes_per_s = 2.1e9};
}

TEST(FileSystemCheck, AGoodFolderPasses) {
  const auto results = check_file_system(good());
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].found, "/runs: lustre, 60 of 100 GiB free");
  EXPECT_EQ(results[1].found, "2000 MB/s into one file, 2100 MB/s into one of each rank");
  for (const CheckResult& result : results) {
    EXPECT_EQ(result.verdict, Verdict::ok);
    EXPECT_EQ(result.advice, "");
  }
}

TEST(FileSystemCheck, MemoryAndFullDisksAreWarnedOf) {
  FileSystemFacts facts = good();
  facts.type = "tmpfs";
  EXPECT_EQ(check_file_system(facts)[0].verdict, Verdict::warn);
  facts = good();
  facts.free = Index{1} << 30;
  EXPECT_EQ(check_file_system(facts)[0].verdict, Verdict::warn);
}

TEST(FileSystemCheck, SlowDisksAndSlowSharing) {
  FileSystemFacts facts = good();
  facts.shared_bytes_per_s = 1e9;
  EXPECT_EQ(check_file_system(facts)[1].verdict, Verdict::ok);
  EXPECT_NE(check_file_system(facts)[1].advice.find("--save-file-per-writer"), std::string::npos);
  facts.shared_bytes_per_s = facts.separate_bytes_per_s = 50e6;
  EXPECT_EQ(check_file_system(facts)[1].verdict, Verdict::warn);
}

TEST(FileSystemCheck, MeasuresWithAllRanksAndCleansUp) {
  const test::TemporaryFolder folder;
  comm::run_thread_world(2, [&](comm::World& world) {
    const FileSystemFacts facts = read_file_system(folder.path(), world, Index{1} << 20);
    EXPECT_EQ(facts.error, "");
    EXPECT_FALSE(facts.type.empty());
    EXPECT_GT(facts.bytes, 0);
    EXPECT_GT(facts.shared_bytes_per_s, 0);
    EXPECT_GT(facts.separate_bytes_per_s, 0);
  });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FileSystemCheck, NowhereIsToldByAllRanks) {
  comm::run_thread_world(2, [&](comm::World& world) {
    const FileSystemFacts facts = read_file_system("/nowhere/at/all", world, Index{1} << 20);
    EXPECT_NE(facts.error.find("/nowhere/at/all"), std::string::npos) << facts.error;
    const auto results = check_file_system(facts);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].verdict, Verdict::fail);
  });
}

}  // namespace file_system_check_test
}  // namespace mpitron::doctor
