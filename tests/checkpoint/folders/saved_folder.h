#pragma once
#include <fstream>

#include <gtest/gtest.h>

#include "checkpoint/folders/folder.h"
#include "checkpoint/format/posix_file.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"

namespace mpitron::test {

/// A folder with complete checkpoints.
class SavedFolder : public ::testing::Test {
 protected:
  void save(Index iteration) {
    folder_.begin(iteration);
    write_sample(folder_.unfinished_file(iteration), iteration);
    folder_.commit(iteration);
  }
  void flip_data(Index iteration) {
    const checkpoint::DataSet damaged =
        *checkpoint::File(folder_.file(iteration)).find("model/double");
    checkpoint::PosixFile(folder_.file(iteration), checkpoint::PosixFile::Mode::modify)
        .write(damaged.offset + 60, "?", 1);
  }
  void write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  TemporaryFolder temporary_;
  std::filesystem::path root_ = temporary_.path() / "below" / "save";
  checkpoint::Folder folder_{root_};
};

}  // namespace mpitron::test
