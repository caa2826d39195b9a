#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "checkpoint/folders/folder.h"
#include "support/program.h"
#include "support/sample_checkpoint.h"

namespace mpitron::cli {
namespace inspect_test {

using namespace mpitron::test;
using nlohmann::json;

/// A folder with the checkpoints of iterations 5 and 7.
class Inspect : public ::testing::Test {
 protected:
  Inspect() {
    for (const Index iteration : {5, 7}) {
      checkpoints_.begin(iteration);
      mpitron::test::write_sample(checkpoints_.unfinished_file(iteration), iteration);
      checkpoints_.commit(iteration);
    }
  }
  Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), "inspect");
    return run_program(folder_.path(), words);
  }

  const TemporaryFolder folder_;
  const checkpoint::Folder checkpoints_{folder_ / "save"};
};

TEST_F(Inspect, ShowsTheNewestOfAFolder) {
  const Finished finished = run({"save"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  for (const char* part :
       {"save/iter_0000007/checkpoint.h5", "iteration 7, 3584 consumed train samples",
        "optimizer/updates = 7", "loss_scaler/scale = 65536", "merges.txt (8 B, XXH3 ", "model/\n",
        "embedding.word_embeddings.weight", "[37, 4]", "bf16", "592 B", "13 data sets"}) {
    EXPECT_TRUE(contains(finished.out, part)) << part << '\n' << finished.out;
  }
  EXPECT_FALSE(contains(finished.out, "hidden-size"));
  EXPECT_TRUE(contains(run({"save", "--configuration"}).out, "hidden-size"));
}

TEST_F(Inspect, TakesAnIterationsFolderAndAFile) {
  EXPECT_TRUE(contains(run({"save/iter_0000005"}).out, "iteration 5,"));
  EXPECT_TRUE(contains(run({"save/iter_0000005/checkpoint.h5"}).out, "iteration 5,"));
}

TEST_F(Inspect, AFilePerWriterLooksLikeOneSharedFile) {
  std::filesystem::create_directory(folder_ / "two");
  mpitron::test::write_sample_per_writer(folder_ / "two/checkpoint.h5");
  EXPECT_TRUE(contains(run({"two"}).out, ", which shows 2 writers' files of "));
  EXPECT_EQ(run({"save", "two"}).code, 0) << run({"save", "two"}).out;
  const json ours = json::parse(run({"save", "--json", "--statistics"}).out);
  const json theirs = json::parse(run({"two", "--json", "--statistics"}).out);
  ASSERT_EQ(ours.at("data_sets").size(), theirs.at("data_sets").size());
  for (std::size_t i = 0; i < ours.at("data_sets").size(); ++i) {
    json a = ours.at("data_sets")[i], b = theirs.at("data_sets")[i];
    EXPECT_TRUE(b.at("offset").is_null());
    a.erase("offset");
    b.erase("offset");
    EXPECT_EQ(a, b);
  }
}

TEST_F(Inspect, SpeaksJsonWithStatistics) {
  const Finished finished = run({"save", "--json", "--statistics"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  const json result = json::parse(finished.out);
  EXPECT_EQ(result.at("iteration"), 7);
  EXPECT_EQ(result.at("configuration").at("hidden-size"), 4);
  EXPECT_EQ(result.at("integers").at("optimizer/updates"), 7);
  EXPECT_EQ(result.at("files").at("bytes.bin"), 4);
  for (const json& data_set : result.at("data_sets")) {
    if (data_set.at("name") == "model/double") {
      EXPECT_EQ(data_set.at("shape"), json({2, 3, 2}));
      EXPECT_EQ(data_set.at("dtype"), "fp64");
      EXPECT_EQ(data_set.at("minimum"), -0.5);
      EXPECT_EQ(data_set.at("maximum"), 2.25);
      EXPECT_EQ(data_set.at("mean"), 0.875);
      return;
    }
  }
  FAIL() << finished.out;
}

TEST_F(Inspect, ComparesTwo) {
  const Finished equal = run({"save/iter_0000005", "save/iter_0000005"});
  EXPECT_EQ(equal.code, 0) << equal.err;
  EXPECT_TRUE(contains(equal.out, "equal: 13 data sets, bit for bit")) << equal.out;
  const Finished different = run({"save/iter_0000005", "save"});
  EXPECT_EQ(different.code, 1) << different.err;
  EXPECT_TRUE(contains(different.out, "attribute iteration: 5 in A and 7 in B")) << different.out;
  const json result = json::parse(run({"save/iter_0000005", "save", "--json"}).out);
  EXPECT_EQ(result.at("equal"), false);
  EXPECT_EQ(result.at("state").size(), 3U);
  EXPECT_EQ(result.at("data_sets").size(), 0U);
}

TEST_F(Inspect, WritesTheTokenizersFiles) {
  const Finished finished = run({"save", "--extract-tokenizer", "out/tokenizer"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(read_file(folder_ / "out/tokenizer/merges.txt"), "a b\nc d\n");
  EXPECT_EQ(read_file(folder_ / "out/tokenizer/bytes.bin"), std::string("\0\x01\xff\0", 4));
}

TEST_F(Inspect, NamesAFolderThatCannotBeMade) {
  write_bytes(folder_ / "file", "");
  const Finished finished = run({"save", "--extract-tokenizer", "file/below"});
  EXPECT_EQ(finished.code, 4) << finished.err;
  EXPECT_TRUE(contains(finished.err, "--extract-tokenizer file/below: cannot make the folder"))
      << finished.err;
}

TEST_F(Inspect, NamesWhatIsNotThere) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"a", "b", "c"}).code, 2);
  EXPECT_EQ(run({"--help"}).code, 0);
  const Finished nowhere = run({"nowhere"});
  EXPECT_EQ(nowhere.code, 4);
  EXPECT_TRUE(contains(nowhere.err, "nowhere: there is no such file or folder")) << nowhere.err;
  std::filesystem::create_directory(folder_ / "empty");
  const Finished empty = run({"empty"});
  EXPECT_EQ(empty.code, 4);
  EXPECT_TRUE(contains(empty.err, "holds no checkpoint")) << empty.err;
}

}  // namespace inspect_test
}  // namespace mpitron::cli
