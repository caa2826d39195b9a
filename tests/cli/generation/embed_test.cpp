#include <gtest/gtest.h>

#include "cli/sentences.h"
#include "io/hdf5/hdf5_file.h"

namespace mpitron::cli {
namespace embed_test {

using namespace mpitron::test;

class Embed : public ::testing::Test {
 protected:
  Embed() {
    write_sentences(folder_, 20);
    EXPECT_EQ(preprocess_sentences(folder_).code, 0);
    EXPECT_EQ(run_program(folder_.path(),
                          tiny_encoder("pretrain-bert") +
                              Words{"--data-path", "corpus_text_sentence", "--save", "model"})
                  .code,
              0);
  }
  Finished run(const Words& more) const {
    return run_program(folder_.path(), Words{"embed", "--load", "model", "--input", "in.jsonl"} +
                                           kWordPieces + more);
  }
  /// The numbers of the file's only data set.
  std::vector<float> numbers(const std::string& name) const {
    const std::filesystem::path path = folder_.path() / name;
    const io::Hdf5File file(path, io::Hdf5File::Mode::read);
    const auto sets = file.data_sets({});
    EXPECT_EQ(sets.at(0).name, "embeddings");
    EXPECT_EQ(sets.at(0).shape, (Shape{20, 32}));
    const std::string bytes = read_file(path);
    std::vector<float> values(20 * 32);
    std::memcpy(values.data(), bytes.data() + sets.at(0).offset, values.size() * sizeof(float));
    return values;
  }
  const TemporaryFolder folder_;
};

TEST_F(Embed, EachDocumentHasAVectorInAnyBatch) {
  const Finished alone = run({"--output-path", "one.h5", "--batch-size", "1"});
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(run({"--output-path", "many.h5", "--batch-size", "7"}).code, 0);
  const std::vector<float> one = numbers("one.h5"), many = numbers("many.h5");
  for (std::size_t i = 0; i < one.size(); ++i) {
    ASSERT_NEAR(one[i], many[i], 1e-5) << i;
  }
  EXPECT_NE(std::vector(one.begin(), one.begin() + 32),
            std::vector(one.begin() + 32, one.begin() + 64));
  EXPECT_EQ(run({"--output-path", "cls.h5", "--pooling", "cls"}).code, 0);
  EXPECT_NE(numbers("cls.h5"), one);
}

TEST_F(Embed, SaysWhatIsMissing) {
  EXPECT_EQ(run({"--output-path", "x.h5", "--pooling", "max"}).code, 2);
  EXPECT_EQ(run({"--output-path", "x.h5", "--json-key", "body"}).code, 4);
}

}  // namespace embed_test
}  // namespace mpitron::cli
