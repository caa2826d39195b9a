#include <gtest/gtest.h>

#include "cli/tiny_run.h"

namespace mpitron::cli {
namespace dataset_convert_test {

using namespace mpitron::test;

class DatasetConvert : public ::testing::Test {
 protected:
  Finished convert(const Words& words) const {
    return run_program(folder_.path(), Words{"dataset", "convert"} + words);
  }
  Finished train(const std::string& data, const std::string& vocab_size = "999") const {
    Words flags(kTinyModel.begin(), kTinyModel.end() - 1);
    return run_program(folder_.path(), flags + Words{vocab_size, "--data-path", data, "--split",
                                                     "8,1,1", "--train-iters", "3"});
  }

  TemporaryFolder folder_;
  std::string golden_ = golden_folder() + "/dataset/a";
};

TEST_F(DatasetConvert, GoesThereAndBack) {
  const Finished there = convert({golden_, "a.h5"});
  EXPECT_EQ(there.code, 0) << there.err;
  EXPECT_TRUE(contains(there.out, "a.h5: ")) << there.out;
  EXPECT_EQ(convert({"a.h5", "back", "--json"}).code, 0);
  EXPECT_EQ(read_file(folder_ / "back.bin"), read_file(golden_ + ".bin"));
  EXPECT_EQ(read_file(folder_ / "back.idx"), read_file(golden_ + ".idx"));
}

TEST_F(DatasetConvert, TrainsOnBothWithTheSameLosses) {
  ASSERT_EQ(convert({golden_, "a.h5"}).code, 0);
  ASSERT_EQ(convert({"a.h5", "pair"}).code, 0);
  const Finished pair = train("pair");
  ASSERT_EQ(pair.code, 0) << pair.err;
  for (const char* name : {"a.h5", "a"}) {
    const Finished hdf5 = train(name);
    EXPECT_EQ(hdf5.code, 0) << hdf5.err;
    EXPECT_EQ(result_lines(hdf5.out), result_lines(pair.out)) << name;
  }
}

TEST_F(DatasetConvert, RemembersTheTokenizer) {
  ASSERT_EQ(
      convert({golden_, "a.h5", "--tokenizer-type", "NullTokenizer", "--vocab-size", "999"}).code,
      0);
  EXPECT_EQ(train("a.h5").code, 0);
  const Finished other = train("a.h5", "1500");
  EXPECT_EQ(other.code, 4);
  EXPECT_TRUE(contains(other.err, "was made with another tokenizer")) << other.err;
}

TEST_F(DatasetConvert, SaysWhatIsWrong) {
  EXPECT_TRUE(contains(convert({golden_}).err, "a source and a target"));
  EXPECT_TRUE(contains(convert({golden_, "x"}).err, "one of the two must end in .h5"));
  EXPECT_EQ(convert({"missing", "x.h5"}).code, 4);
  write_bytes(folder_ / "bad.h5", "no HDF5");
  EXPECT_TRUE(contains(convert({"bad.h5", "x"}).err, "expected the seal"));
}

}  // namespace dataset_convert_test
}  // namespace mpitron::cli
