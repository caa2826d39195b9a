#include "checkpoint/tools/io_bench.h"

#include <gtest/gtest.h>

#include "comm/groups/world.h"
#include "support/temporary_folder.h"

namespace mpitron::checkpoint {
namespace io_bench_test {

TEST(IoBench, RanksAndThreadsWriteTogether) {
  const test::TemporaryFolder folder;
  comm::run_thread_world(3, [&](comm::World& world) {
    const auto all = world.all();
    const IoTimes times = run_io_bench({.folder = folder.path(),
                                        .rank = world.rank(),
                                        .ranks = world.size(),
                                        .threads = 2,
                                        .bytes_per_writer = 5000,
                                        .repetitions = 3,
                                        .barrier = [&] { all->barrier(); }});
    EXPECT_EQ(times.shared.size(), 3U);
    EXPECT_EQ(times.separate.size(), 3U);
    EXPECT_GT(times.shared[0], 0);
  });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace io_bench_test
}  // namespace mpitron::checkpoint
