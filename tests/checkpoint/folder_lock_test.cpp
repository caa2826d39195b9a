#include "checkpoint/folder_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace {

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

TEST(FolderLock, AFileInTheWayIsNamed) {
  EXPECT_THROW(FolderLock{"/dev/null"}, Error);
  EXPECT_THROW(FolderLock{"/proc/save"}, Error);
}

}  // namespace
}  // namespace mpitron::checkpoint
