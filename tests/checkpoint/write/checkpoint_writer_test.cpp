#include "checkpoint/write/checkpoint_writer.h"

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint/plan/agreement.h"
#include "checkpoint/saved.h"
#include "comm/worlds.h"
#include "support/full_disk.h"
#include "support/temporary_folder.h"

namespace mpitron::checkpoint {
namespace checkpoint_writer_test {

using comm::World;
using test::TemporaryFolder;

/// One folder for all ranks, removed when all are done with it.
class SharedFolder {
 public:
  explicit SharedFolder(World& world) : group_(world.all()) {
    if (world.rank() == 0) {
      own_ = std::make_unique<TemporaryFolder>();
    }
    path_ = broadcast_text(*group_, own_ != nullptr ? own_->path().string() : "", 0);
  }
  ~SharedFolder() { group_->barrier(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::unique_ptr<TemporaryFolder> own_;
  std::shared_ptr<comm::Group> group_;
  std::filesystem::path path_;
};

class CheckpointWorlds : public ::testing::TestWithParam<comm::WorldKind> {};

TEST_P(CheckpointWorlds, AnyLayoutLoadsWhatAnyOtherSaved) {
  comm::run_world(GetParam(), [](World& world) {
    const SharedFolder folder(world);
    std::mt19937_64 random(static_cast<std::uint64_t>(world.size()));  // the same on all ranks
    for (Index round = 0; round < 6; ++round) {
      // Large enough for gathered rows, and for parts of several replicas, in every other round.
      const std::vector<TestTensor> tensors =
          random_tensors(random, 1 + static_cast<Index>(random() % 3), round % 2 == 0 ? 1 : 6);
      const TestLayout from = random_layout(random, world.size());
      const TestLayout to = random_layout(random, world.size());
      SCOPED_TRACE(name_of(from) + " to " + name_of(to));
      const HeldState saved = hold_state(tensors, from, world.rank());
      WriterOptions options{.staging_bytes = round < 3 ? 1 << 20 : 1 << 30,
                            .write_bytes = round % 3 == 0 ? 1 << 12 : 1 << 18,
                            .file_per_writer = round / 2 % 2 == 0};
      CheckpointWriter writer(world, options);
      const Folder files(folder.path());
      EXPECT_EQ(save_and_wait(writer, saved, folder.path(), 2 * round, round % 2 == 0).error, "");
      EXPECT_EQ(contents_of(files.file(2 * round)), contents_of(tensors));

      const HeldState expected = hold_state(tensors, to, world.rank());
      const HeldState loaded = hold_state(tensors, to, world.rank(), false);
      CheckpointReader reader(world, files.file(2 * round));
      EXPECT_EQ(reader.compare(targets_of(loaded)).text(), "");
      Index needed = 0;
      for (const tensor::ShardedTensor& tensor : loaded.tensors) {
        needed += tensor.value.bytes();
      }
      EXPECT_EQ(reader.read(targets_of(loaded)).bytes, needed);
      EXPECT_EQ(loaded.memory, expected.memory);

      options.file_per_writer = !options.file_per_writer;
      CheckpointWriter other(world, options);
      EXPECT_EQ(save_and_wait(other, loaded, folder.path(), 2 * round + 1, true).error, "");
      EXPECT_EQ(contents_of(files.file(2 * round + 1)), contents_of(tensors));
    }
  });
}

TEST_P(CheckpointWorlds, AsynchronousSavesKeepWhatTheTensorsHeld) {
  comm::run_world(GetParam(), [](World& world) {
    const SharedFolder folder(world);
    std::mt19937_64 random(5);
    const std::vector<TestTensor> tensors = random_tensors(random, 2, 4);
    const TestLayout layout{1, 1, world.size(), true};
    HeldState state = hold_state(tensors, layout, world.rank());
    CheckpointWriter writer(world, {.file_per_writer = GetParam().size % 2 == 0});
    const Header header;
    writer.save({state.tensors, &header, folder.path(), 7, true});
    EXPECT_TRUE(writer.in_flight());
    writer.wait_for_copies();
    for (std::vector<std::byte>& memory : state.memory) {
      std::fill(memory.begin(), memory.end(), std::byte{0x55});
    }
    std::optional<SaveReport> report;
    for (int iteration = 0; !report.has_value(); ++iteration) {
      ASSERT_LT(iteration, 100'000);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      report = writer.finish(false);
    }
    EXPECT_EQ(report->error, "");
    EXPECT_EQ(report->iteration, 7);
    EXPECT_GT(report->bytes, 0);
    EXPECT_LE(report->blocked_seconds, report->total_seconds);
    EXPECT_FALSE(writer.finish(true).has_value());
    EXPECT_EQ(contents_of(Folder(folder.path()).file(7)), contents_of(tensors));
  });
}

void expect_failure_told(World& world, bool threads, bool file_per_writer) {
  const SharedFolder folder(world);
  std::mt19937_64 random(5);
  const std::vector<TestTensor> tensors = random_tensors(random, 2, 4);
  const TestLayout layout{1, 1, world.size(), true};
  const HeldState state = hold_state(tensors, layout, world.rank());
  CheckpointWriter writer(world, {.file_per_writer = file_per_writer});
  EXPECT_EQ(threads, save_and_wait(writer, state, folder.path(), 1, false).error != "");
  {
    // A limit of the last process alone: a shared file is created, and one part cannot be written.
    std::unique_ptr<test::FullDisk> own;
    if (!threads && world.rank() == world.size() - 1) {
      own = std::make_unique<test::FullDisk>(100'000);
    }
    const SaveReport report = save_and_wait(writer, state, folder.path(), 2, true);
    const char* const file = file_per_writer ? "writer_0000" : "checkpoint.h5";
    EXPECT_NE(report.error.find(file), std::string::npos) << report.error;
    EXPECT_NE(report.error.find("too large"), std::string::npos) << report.error;
    EXPECT_FALSE(std::filesystem::exists(Folder(folder.path()).file(2)));
    EXPECT_FALSE(std::filesystem::exists(Folder(folder.path()).unfinished_file(2)));
  }
  if (!threads) {
    EXPECT_EQ(save_and_wait(writer, state, folder.path(), 3, true).error, "");
    EXPECT_EQ(contents_of(Folder(folder.path()).file(3)), contents_of(tensors));
  }
}

TEST_P(CheckpointWorlds, AFailureOfOneRankIsToldToAllAndTheNextSaveWorks) {
  const bool threads = GetParam().transport == comm::Transport::threads;
  const auto limit = threads ? std::make_unique<test::FullDisk>(100'000) : nullptr;
  comm::run_world(GetParam(), [threads](World& world) {
    for (const bool file_per_writer : {false, true}) {
      expect_failure_told(world, threads, file_per_writer);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, CheckpointWorlds, ::testing::ValuesIn(comm::worlds_to_test()),
                         comm::name_of_world);

/// Of all threads' heaps. What is resident would also depend on which of them were used.
Index allocated_bytes() {
  const struct mallinfo2 heaps = ::mallinfo2();
  return static_cast<Index>(heaps.uordblks + heaps.hblkhd);
}

class FileSchemes : public ::testing::TestWithParam<bool> {
 protected:
  const WriterOptions options_{.file_per_writer = GetParam()};
};

INSTANTIATE_TEST_SUITE_P(FileSchemes, FileSchemes, ::testing::Bool(), [](const auto& info) {
  return info.param ? "file_per_writer" : "shared_file";
});

TEST_P(FileSchemes, MemoryDoesNotGrowOverFiftySaves) {
  const TemporaryFolder folder;
  const auto world = comm::make_single_world();
  std::mt19937_64 random(3);
  const HeldState state = hold_state(random_tensors(random, 3, 4), {}, 0);
  CheckpointWriter writer(*world, options_);
  Index first = 0, staging = 0;
  for (Index i = 0; i < 50; ++i) {
    ASSERT_EQ(save_and_wait(writer, state, folder.path(), i % 3, true).error, "");
    if (i == 9) {
      first = allocated_bytes();
      staging = writer.staging_bytes();
    }
  }
  EXPECT_EQ(writer.staging_bytes(), staging);
  EXPECT_LE(allocated_bytes() - first, Index{1} << 16);
}

/// Whether the child has not ended; its status is left to waitpid.
bool runs(pid_t child) {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == 0;
}

TEST_P(FileSchemes, KilledAtAnyMomentLeavesNoIncompleteCheckpoint) {
  const TemporaryFolder folder;
  std::mt19937_64 random(9);
  const std::vector<TestTensor> tensors = random_tensors(random, 3, 6);
  const Folder files(folder.path());
  const HeldState state = hold_state(tensors, {}, 0);
  const auto save_from = [&](Index first, Index last) {
    const auto world = comm::make_single_world();
    CheckpointWriter writer(*world, options_);
    for (Index i = first; i < last; ++i) {
      ASSERT_EQ(save_and_wait(writer, state, folder.path(), i, i % 2 == 0).error, "");
    }
  };
  const auto expected = contents_of(tensors);
  constexpr int kRounds = 12;
  Index next = 0;
  for (int round = 0; round < kRounds; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      save_from(next, next + 1000);
      std::_Exit(1);
    }
    do {  // the last kill comes when something is there, on a machine of any speed
      std::this_thread::sleep_for(std::chrono::microseconds(20'000 + random() % 100'000));
    } while (round + 1 == kRounds && files.iterations().empty() && runs(child));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "round " << round;
    for (const Index iteration : files.iterations()) {
      EXPECT_EQ(contents_of(files.file(iteration)), expected) << iteration;
      next = std::max(next, iteration + 1);
    }
    if (files.tracked().has_value()) {
      EXPECT_TRUE(std::filesystem::exists(files.file(*files.tracked())));
    }
    for (const Index iteration : files.iterations()) {
      // The tracker is behind where the kill came between a rename and its update.
      if (iteration + 1 < next && files.tracked() != iteration) {
        std::filesystem::remove_all(files.file(iteration).parent_path());
      }
    }
  }
  EXPECT_GT(next, 0);
  save_from(next, next + 1);  // over what the last kill left
  EXPECT_EQ(contents_of(files.file(next)), expected);
}

}  // namespace checkpoint_writer_test
}  // namespace mpitron::checkpoint
