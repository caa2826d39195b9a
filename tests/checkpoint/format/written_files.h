#pragma once

#include <gtest/gtest.h>

#include "checkpoint/folders/verify.h"
#include "checkpoint/format/writer_files.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

// Files of several writers that are one checkpoint.

namespace mpitron::checkpoint {

/// A checkpoint of two writers.
class WriterFilesTest : public ::testing::Test {
 protected:
  void write_small() {
    test::write_checkpoint_per_writer(
        path_, {.files = {{"a", "text"}}},
        {{.name = "model/a", .shape = {5}}, {.name = "model/b", .shape = {2, 3}}});
  }
  /// What is wrong, whoever finds it; empty where nothing is.
  std::string finding() const {
    try {
      const File file(path_);
      return damage_text(file, verify(file).damaged);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      return error.what();
    }
  }

  const test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "checkpoint.h5";
  const std::filesystem::path first_ = folder_.path() / "writer_00000.h5";
  const std::filesystem::path second_ = folder_.path() / "writer_00001.h5";
};

}  // namespace mpitron::checkpoint
