#include "checkpoint/tools/strip_optimizer.h"

#include <gtest/gtest.h>

#include "checkpoint/format/posix_file.h"
#include "checkpoint/tools/inspection.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::checkpoint {
namespace strip_optimizer_test {

namespace fs = std::filesystem;
using Iterations = std::vector<Index>;

const std::string kState = "optimizer/exp_avg/embedding.word_embeddings.weight";

/// Checkpoints of iterations 1 to 4; those of even ones are a file per writer.
class StripOptimizer : public ::testing::Test {
 protected:
  StripOptimizer() {
    for (const Index iteration : {1, 2, 3, 4}) {
      folder_.begin(iteration);
      const fs::path path = folder_.unfinished_file(iteration);
      iteration % 2 == 0 ? test::write_sample_per_writer(path, iteration)
                         : test::write_sample(path, iteration);
      folder_.commit(iteration);
    }
  }
  bool has_state(Index iteration) const {
    return File(folder_.file(iteration)).find(kState) != nullptr;
  }

  const test::TemporaryFolder temporary_;
  const Folder folder_{temporary_.path() / "a"};
};

TEST_F(StripOptimizer, LeavesEverythingElse) {
  fs::copy(folder_.root(), temporary_.path() / "b", fs::copy_options::recursive);
  for (const Index iteration : {1, 2}) {
    EXPECT_TRUE(strip_optimizer(folder_, iteration));
    EXPECT_FALSE(strip_optimizer(folder_, iteration));
    const File before(Folder(temporary_.path() / "b").file(iteration));
    const File after(folder_.file(iteration));
    EXPECT_TRUE(differences(before.header(), after.header()).empty());
    const std::vector<Difference> found = differences(before, after);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].name, kState);
    EXPECT_EQ(reason_against(folder_.file(iteration)), "");
    EXPECT_FALSE(fs::exists(folder_.file(iteration).parent_path() / "writer_00000.h5"));
  }
  EXPECT_EQ(folder_.tracked(), 4);
}

TEST_F(StripOptimizer, GoesOnWhereItEndedAndSparesWhatHasAName) {
  EXPECT_EQ(strip_older_than(folder_, 4, 4), Iterations{});
  EXPECT_EQ(strip_older_than(folder_, 2, 3), Iterations{1});
  EXPECT_TRUE(has_state(4) && has_state(3) && has_state(2));
  fs::create_symlink("iter_0000003", folder_.root() / "best");
  EXPECT_EQ(strip_older_than(folder_, 1, 4), Iterations{2});
  EXPECT_TRUE(has_state(4) && has_state(3));
  EXPECT_EQ(folder_.iterations(), (Iterations{1, 2, 3, 4}));
}

TEST_F(StripOptimizer, DamageIsNotSealed) {
  const Index offset = File(folder_.file(1)).find("model/double")->offset;
  PosixFile(folder_.file(1), PosixFile::Mode::modify).write(offset, "?", 1);
  const std::string before = read_file(folder_.file(1));
  EXPECT_THROW(strip_optimizer(folder_, 1), Error);
  EXPECT_EQ(read_file(folder_.file(1)), before);
}

}  // namespace strip_optimizer_test
}  // namespace mpitron::checkpoint
