#include "utils/system/faults.h"

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/temporary_folder.h"
#include "utils/system/files.h"

namespace mpitron {
namespace faults_test {

/// Reads the last byte of a mapped file that was cut meanwhile.
void read_behind_the_end(const std::string& path) {
  tell_faults();
  const MappedFile file(path);
  ::truncate(path.c_str(), 4096);
  volatile char last = file.text().back();
  (void)last;
}

TEST(FaultsDeathTest, ABusErrorNamesTheFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "corpus.bin";
  std::ofstream(path) << std::string(100'000, 'x');
  EXPECT_EXIT(read_behind_the_end(path), testing::ExitedWithCode(4),
              "corpus.bin: cannot be read any more");
}

TEST(FaultsDeathTest, ABusErrorElsewhereIsOne) {
  EXPECT_EXIT(
      {
        tell_faults();
        ::raise(SIGBUS);
        ::raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST(FaultsDeathTest, AFileBeyondTheLimitFailsToBeWritten) {
  const test::TemporaryFolder folder;
  const auto write = [&] {
    tell_faults();
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      AtomicFile file(folder.path() / "big");
      file.write(std::string(100'000, 'x'));
      file.commit();
    } catch (const std::exception& error) {
      ::_exit(std::string(error.what()).find("ulimit -f") != std::string::npos ? 7 : 8);
    }
    ::_exit(9);
  };
  EXPECT_EXIT(write(), testing::ExitedWithCode(7), "");
}

TEST(FaultsDeathTest, APipeWithoutAReaderIsAFailedWrite) {
  const auto write = [] {
    outlive_readers();
    int ends[2];
    ::_exit(::pipe(ends) == 0 && ::close(ends[0]) == 0 && ::write(ends[1], "x", 1) < 0 ? 7 : 8);
  };
  EXPECT_EXIT(write(), testing::ExitedWithCode(7), "");
}

}  // namespace faults_test
}  // namespace mpitron
