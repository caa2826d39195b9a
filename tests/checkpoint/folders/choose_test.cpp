#include <fstream>

#include <gtest/gtest.h>

#include "checkpoint/folders/folder.h"
#include "support/contains.h"
#include "support/corpus.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"
#include "utils/system/files.h"

namespace mpitron::checkpoint {
namespace choose_test {

class ChooseTest : public ::testing::Test {
 protected:
  ChooseTest() {
    for (const Index iteration : {3, 5}) {
      folder_.begin(iteration);
      test::write_sample(folder_.unfinished_file(iteration), iteration);
      folder_.commit(iteration);
    }
  }

  test::TemporaryFolder temporary_;
  Folder folder_{temporary_.path()};
};

TEST_F(ChooseTest, TheNewestThatOpensIsTaken) {
  EXPECT_EQ(open_newest(folder_).header().iteration, 5);
  EXPECT_EQ(open_newest(folder_, 3).header().iteration, 3);
  std::ofstream(folder_.file(5)) << "no checkpoint";
  EXPECT_EQ(open_newest(folder_).header().iteration, 3);
  std::filesystem::remove(folder_.file(3));
  const std::string message = test::message_of([&] { open_newest(folder_); });
  EXPECT_PRED2(test::contains, message, "there is no complete checkpoint");
  EXPECT_PRED2(test::contains, message, "iter_0000005");
}

TEST_F(ChooseTest, AMistakeNamesTheIterationsThatAreThere) {
  EXPECT_EQ(existing_file(folder_, 3), folder_.file(3));
  EXPECT_PRED2(test::contains, test::message_of([&] { existing_file(folder_, 4); }),
               "has those of iterations: 3 5");
}

TEST_F(ChooseTest, AVerifiedResumeIsNoted) {
  record_verified_resume(folder_, 5, "mpitron \"test\"");
  EXPECT_EQ(read_file(folder_.file(5).parent_path() / "verified_resume.json"),
            "{\"iteration\": 5, \"equal_bits\": true, \"build\": \"mpitron \\\"test\\\"\"}\n");
}

}  // namespace choose_test
}  // namespace mpitron::checkpoint
