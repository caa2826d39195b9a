#include "utils/error.h"

#include <gtest/gtest.h>

namespace mpitron {
namespace error_test {

template <class Action>
Error thrown_by(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing thrown";
  return {ExitCode::success, ""};
}

TEST(Error, CarriesMessageAndExitCode) {
  const Error usage = thrown_by([] { throw_usage("--lr {}: above {} is needed", -1, 0); });
  EXPECT_EQ(usage.code(), ExitCode::usage);
  EXPECT_STREQ(usage.what(), "--lr -1: above 0 is needed");
  EXPECT_EQ(thrown_by([] { throw_environment("no GPU"); }).code(), ExitCode::environment);
  EXPECT_EQ(thrown_by([] { throw_data("{}: cut", "a.bin"); }).code(), ExitCode::data);
}

TEST(Error, BracesInAnArgumentAreText) {
  const Error error = thrown_by([] { throw_data("{}: not JSON", "{\"text\": {}}"); });
  EXPECT_STREQ(error.what(), "{\"text\": {}}: not JSON");
}

// Scripts and schedulers rely on these numbers: README lists them.
TEST(Error, ExitCodesAreTheDocumentedNumbers) {
  EXPECT_EQ(static_cast<int>(ExitCode::success), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::failure), 1);
  EXPECT_EQ(static_cast<int>(ExitCode::usage), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::environment), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::data), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::resume_to_disambiguate), 16);
  EXPECT_EQ(static_cast<int>(ExitCode::result_rejected), 17);
  EXPECT_EQ(static_cast<int>(ExitCode::interrupted), 85);
  EXPECT_EQ(static_cast<int>(ExitCode::interrupted_unsaved), 86);
}

}  // namespace error_test
}  // namespace mpitron
