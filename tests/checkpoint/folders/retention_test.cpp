#include "checkpoint/folders/saved_folder.h"
#include "support/contains.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace retention_test {

namespace fs = std::filesystem;
using test::contains;
using Iterations = std::vector<Index>;
using Retained = test::SavedFolder;

TEST_F(Retained, AReasonNamesTheFileAndWhatIsWrong) {
  for (const Index iteration : {2, 3, 4, 5, 6}) {
    save(iteration);
  }
  EXPECT_EQ(reason_against(folder_.file(2)), "");
  flip_data(3);
  fs::resize_file(folder_.file(4), fs::file_size(folder_.file(4)) - 100);
  fs::remove(folder_.file(5));
  create_file(folder_.file(6), {}, {});
  const std::pair<Index, const char*> faults[] = {
      {3, "model/double: bytes "}, {4, "truncated"}, {5, "No such file"}, {6, "never finished"}};
  for (const auto& [iteration, what] : faults) {
    const std::string reason = reason_against(folder_.file(iteration));
    EXPECT_PRED2(contains, reason, what);
    EXPECT_PRED2(contains, reason, "iter_000000" + std::to_string(iteration));
  }
}

TEST_F(Retained, RetentionKeepsWhatItIsTold) {
  for (Index iteration = 1; iteration <= 10; ++iteration) {
    save(iteration);
  }
  EXPECT_EQ(apply_retention(folder_, {}, 10), Iterations{});
  EXPECT_EQ(apply_retention(folder_, {.retain_interval = 4, .keep_last = 3}, 10),
            (Iterations{1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(folder_.iterations(), (Iterations{4, 8, 9, 10}));
  EXPECT_EQ(apply_retention(folder_, {.retain_interval = 4}, 9), Iterations{});
  EXPECT_EQ(apply_retention(folder_, {.retain_interval = 4}, 10), Iterations{9});
  EXPECT_EQ(apply_retention(folder_, {.keep_last = 1}, 10), (Iterations{4, 8}));
  EXPECT_EQ(folder_.iterations(), Iterations{10});
}

TEST_F(Retained, RetentionSparesSymbolicLinks) {
  for (const Index iteration : {1, 2, 3}) {
    save(iteration);
  }
  fs::rename(root_ / "iter_0000001", temporary_.path() / "elsewhere");
  fs::create_symlink(temporary_.path() / "elsewhere", root_ / "iter_0000001");
  fs::create_symlink("iter_0000002", root_ / "best");
  EXPECT_EQ(apply_retention(folder_, {.keep_last = 1}, 3), Iterations{});
}

TEST_F(Retained, TheNewestThatOpensIsOpened) {
  EXPECT_THROW(open_newest(folder_), Error);
  save(3);
  save(4);
  fs::resize_file(folder_.file(4), fs::file_size(folder_.file(4)) - 100);
  EXPECT_EQ(open_newest(folder_).header().iteration, 3);
  EXPECT_THROW(existing_file(folder_, 9), Error);
}

}  // namespace retention_test
}  // namespace mpitron::checkpoint
