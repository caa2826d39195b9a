#include "train/loop/teacher_pass.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "train/loop/pretrain.h"
#include "train/mock_training.h"
#include "utils/error.h"

namespace mpitron::train {
namespace teacher_pass_test {

class TeacherPassTest : public ::testing::Test {
 protected:
  /// A run on mock data; what it prints.
  std::string run(const std::vector<std::string>& flags) const {
    MockTraining tiny(flags);
    Pretraining pretraining(*tiny.device, *tiny.model, tiny.data, tiny.config);
    ::testing::internal::CaptureStdout();
    try {
      pretraining.run();
    } catch (...) {
      ::testing::internal::GetCapturedStdout();
      throw;
    }
    return ::testing::internal::GetCapturedStdout();
  }
  static double figure(const std::string& text, const std::string& name) {
    const auto at = text.find(name + ": ");
    return at == text.npos ? NAN : std::stod(text.substr(at + name.size() + 2));
  }

  test::TemporaryFolder folder_;
  std::string file_ = folder_ / "teacher.h5";
  const std::vector<std::string> still_ = {"--hidden-dropout", "0", "--attention-dropout", "0"};
};

TEST_F(TeacherPassTest, AModelIsItsOwnTeacher) {
  std::vector<std::string> flags = still_;
  flags.insert(flags.end(), {"--teacher-output", file_, "--teacher-top-k", "32"});
  EXPECT_NE(run(flags).find("the 32 likeliest words of"), std::string::npos);
  const TeacherFile file(file_, 8);
  ASSERT_EQ(file.words(), 32);  // all
  double sum = 0;
  for (const float log_prob : file.log_probs(0).first(32)) {
    sum += std::exp(static_cast<double>(log_prob));
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_GE(file.log_probs(0)[0], file.log_probs(0)[1]);
  EXPECT_FALSE(file.find(0));

  flags = still_;
  flags.insert(flags.end(), {"--teacher-file", file_, "--distillation-temperature", "2"});
  const std::string out = run(flags);
  EXPECT_NEAR(figure(out, "total loss"), 0.5 * figure(out, "lm loss"), 1e-5);
  const auto validation = out.find("distillation loss value");
  EXPECT_NE(validation, std::string::npos);
}

TEST_F(TeacherPassTest, OtherLengthsAreRefused) {
  std::vector<std::string> flags = still_;
  flags.insert(flags.end(), {"--teacher-output", file_, "--teacher-top-k", "4"});
  run(flags);
  EXPECT_NE(test::message_of([&] {
              run({"--teacher-file", file_, "--seq-length", "4"});
            }).find("samples of 8 tokens"),
            std::string::npos);
}

}  // namespace teacher_pass_test
}  // namespace mpitron::train
