#include "checkpoint/folders/folder_lock.h"

#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace folder_lock_test {

TEST(FolderLock, ASecondJobIsTold) {
  const test::TemporaryFolder temporary;
  const auto folder = temporary.path() / "save";
  {
    const FolderLock lock(folder);
    try {
      const FolderLock second(folder);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      const std::string text = error.what();
      EXPECT_NE(text.find("another job saves there (host "), text.npos) << text;
      EXPECT_NE(text.find("process " + std::to_string(::getpid())), text.npos) << text;
    }
  }
  EXPECT_NO_THROW(FolderLock{folder});
}

TEST(FolderLock, WhatKilledRunsLeftIsSwept) {
  const test::TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  std::filesystem::create_directories(folder / "iter_0000005.tmp");
  std::filesystem::create_directories(folder / "mine.tmp");
  const auto touch = [&](const char* name) { std::ofstream(folder / name) << "x"; };
  touch("iter_0000005.tmp/checkpoint.h5");
  touch("run_state.json.0123abcd.tmp");
  for (const char* name : {"notes.tmp", "run_state.json", "a.0123abcx.tmp", "a.12.tmp"}) {
    touch(name);
  }
  const FolderLock lock(folder);
  EXPECT_FALSE(std::filesystem::exists(folder / "iter_0000005.tmp"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run_state.json.0123abcd.tmp"));
  for (const char* name :
       {"mine.tmp", "notes.tmp", "run_state.json", "a.0123abcx.tmp", "a.12.tmp"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
}

TEST(FolderLock, AFileInTheWayIsNamed) {
  EXPECT_THROW(FolderLock{"/dev/null"}, Error);
  EXPECT_THROW(FolderLock{"/proc/save"}, Error);
}

}  // namespace folder_lock_test
}  // namespace mpitron::checkpoint
