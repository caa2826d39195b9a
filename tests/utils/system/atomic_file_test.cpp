#include <algorithm>
#include <csignal>
#include <functional>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron {
namespace atomic_file_test {

using test::TemporaryFolder;
using test::write_bytes;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(AtomicFile, IsAbsentUntilCommittedAndThenComplete) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "x");
  file.write("one ");
  file.write(std::string_view("two"));
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  file.commit();
  EXPECT_EQ(read_file(folder / "x"), "one two");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"x"});
}

TEST(AtomicFile, WithoutCommitTheOldFileStaysAndNothingIsLeft) {
  const TemporaryFolder folder;
  write_bytes(folder / "x", "old");
  {
    AtomicFile file(folder / "x");
    file.write("new");
  }
  EXPECT_EQ(read_file(folder / "x"), "old");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"x"});
}

TEST(AtomicFile, KeepsTheOrderOfSmallAndLargeWrites) {
  const TemporaryFolder folder;
  const std::string large(std::size_t{5} << 20, 'b');
  AtomicFile file(folder / "x");
  file.write("a");
  file.write(large);
  file.write("c");
  file.commit();
  EXPECT_EQ(read_file(folder / "x"), "a" + large + "c");
}

TEST(AtomicFile, TwoWritersOfOneNameDoNotMix) {
  const TemporaryFolder folder;
  AtomicFile first(folder / "x"), second(folder / "x");
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(read_file(folder / "x"), "first");  // the last rename wins
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"x"});
}

TEST(AtomicFile, NamesAFolderThatIsAbsent) {
  const TemporaryFolder folder;
  const std::string message = test::message_of([&] { AtomicFile(folder / "no/x"); });
  EXPECT_NE(message.find("no/x: cannot create"), std::string::npos) << message;
}

/// Runs `action` in a child process whose files may hold at most `limit` bytes: what a full disk
/// does, errno aside. True when it threw Error(data).
bool fails_beyond(rlim_t limit, const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limits{limit, limit};
    int code = 3;
    if (::setrlimit(RLIMIT_FSIZE, &limits) == 0) {
      try {
        action();
        code = 0;
      } catch (const Error& error) {
        code = error.code() == ExitCode::data ? 1 : 2;
      }
    }
    ::_exit(code);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST(AtomicFile, AFullDiskIsAnErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  const auto write = [&](std::size_t bytes) {
    AtomicFile file(folder / "x");
    file.write(std::string(bytes, 'x'));
    file.commit();
  };
  EXPECT_TRUE(fails_beyond(1 << 16, [&] { write(1 << 17); }));  // found by commit
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{});
  EXPECT_TRUE(fails_beyond(1 << 16, [&] { write(8 << 20); }));  // found by write
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{});
  EXPECT_FALSE(fails_beyond(1 << 16, [&] { write(1 << 16); }));
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"x"});
}

}  // namespace atomic_file_test
}  // namespace mpitron
