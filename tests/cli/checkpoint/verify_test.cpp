#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.h"
#include "support/sample_checkpoint.h"

namespace mpitron::cli {
namespace verify_test {

using namespace mpitron::test;
using nlohmann::json;

class Verify : public ::testing::Test {
 protected:
  Verify() { mpitron::test::write_sample(path_); }
  Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), "verify");
    return run_program(folder_.path(), words);
  }
  void damage(const std::string& name) {
    const Index offset = checkpoint::File(path_).find(name)->offset;
    checkpoint::PosixFile(path_, checkpoint::PosixFile::Mode::modify).write(offset, "?", 1);
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "checkpoint.h5";
};

TEST_F(Verify, AnIntactFile) {
  const Finished finished = run({"checkpoint.h5"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "every byte is as it was written")) << finished.out;
  EXPECT_EQ(json::parse(run({".", "--json"}).out).at("intact"), true);
}

TEST_F(Verify, NamesEachDamagedDataSet) {
  damage("model/half");
  damage("data/i64");
  const Finished finished = run({"checkpoint.h5"});
  EXPECT_EQ(finished.code, 4);
  EXPECT_TRUE(contains(finished.out, "damaged: model/half: bytes ")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "damaged: data/i64: bytes ")) << finished.out;
  const json result = json::parse(run({"checkpoint.h5", "--json"}).out);
  EXPECT_EQ(result.at("intact"), false);
  EXPECT_EQ(result.at("error"), nullptr);
  EXPECT_EQ(result.at("damaged").size(), 2U);
}

TEST_F(Verify, NamesTheWritersFileThatIsDamagedOrMissing) {
  std::filesystem::create_directory(folder_ / "two");
  mpitron::test::write_sample_per_writer(folder_ / "two/checkpoint.h5");
  EXPECT_EQ(run({"two"}).code, 0);
  {
    const checkpoint::File file(folder_ / "two/checkpoint.h5");
    const checkpoint::StoredRange& range = file.storage().at(file.find("model/half")->offset);
    checkpoint::PosixFile(file.storage().files[static_cast<std::size_t>(range.file)],
                          checkpoint::PosixFile::Mode::modify)
        .write(range.offset, "?", 1);
  }
  const json damaged = json::parse(run({"two", "--json"}).out);
  EXPECT_EQ(damaged.at("damaged").at(0).at("file"), "writer_00001.h5") << damaged;
  EXPECT_TRUE(contains(run({"two"}).out, "of writer_00001.h5 differ")) << run({"two"}).out;
  std::filesystem::remove(folder_ / "two/writer_00000.h5");
  const Finished missing = run({"two"});
  EXPECT_EQ(missing.code, 4);
  EXPECT_TRUE(contains(missing.out, "two/writer_00000.h5: cannot open")) << missing.out;
}

TEST_F(Verify, AFileThatCannotBeOpened) {
  std::filesystem::resize_file(path_, 5000);
  const Finished finished = run({"checkpoint.h5"});
  EXPECT_EQ(finished.code, 4);
  EXPECT_TRUE(contains(finished.out, "damaged: checkpoint.h5: has no seal")) << finished.out;
  const json result = json::parse(run({"checkpoint.h5", "--json"}).out);
  EXPECT_TRUE(contains(result.at("error").get<std::string>(), "truncated"));
  EXPECT_EQ(run({"nowhere"}).code, 4);
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"--help"}).code, 0);
}

}  // namespace verify_test
}  // namespace mpitron::cli
