#pragma once
#include <fstream>

#include <gtest/gtest.h>

#include "train/checkpoint_run.h"
#include "utils/error.h"

namespace mpitron::train {

/// Runs that save and load below a folder of their own.
class CheckpointFixture : public ::testing::Test {
 protected:
  Flags save(const char* where = "a") const { return {"--save", (root_ / where).string()}; }
  Flags load(const char* where = "a") const { return {"--load", (root_ / where).string()}; }

  static std::string message(const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      return error.what();
    }
    return "no error";
  }
  void expect_refused(const Flags& flags, const char* part) const {
    const std::string text = message([&] { run_with_checkpoints(flags, 1, 2); });
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  const test::TemporaryFolder folder_;
  const std::filesystem::path root_ = folder_.path();
};

/// Changes one bit in the middle of a file.
inline void damage(const std::filesystem::path& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(std::filesystem::file_size(path)) / 2);
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path)) / 2);
  file.put(static_cast<char>(byte ^ 1));
}

}  // namespace mpitron::train
