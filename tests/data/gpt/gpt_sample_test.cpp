#include "data/gpt/gpt_sample.h"

#include <gtest/gtest.h>

#include "data/golden_gpt.h"

namespace mpitron::data {
namespace gpt_sample_test {

TEST(GptSample, ReproducesEveryReferenceMask) {
  const io::SafetensorsFile arrays(test::golden_folder() + "/dataset/gpt_samples.safetensors");
  const auto cases = test::golden_json("dataset/indices.json")["gpt_masks"];
  ASSERT_FALSE(cases.empty());
  for (const auto& expected : cases) {
    const auto source = golden_corpus(expected["prefix"]);
    const GptDataset dataset(source, golden_options(expected, Split::train, expected["num_samples"],
                                                    source->lengths().size()));
    GptSampleOptions options;
    options.seq_length = expected["sequence_length"];
    options.reset_position_ids = expected["reset_position_ids"];
    options.reset_attention_mask = expected["reset_attention_mask"];
    options.eod_mask_loss = expected["eod_mask_loss"];
    options.create_attention_mask = expected["create_attention_mask"];
    options.eod = test::golden_eod();
    SampleBuffers buffers(options);
    for (const auto& sample : expected["samples"]) {
      dataset.read(sample.is_null() ? 0 : sample.get<Index>(), buffers.text);
      make_gpt_sample(buffers.text, options, buffers.view());
      if (sample.is_null()) {  // the reference's padding sample; the loader does this
        std::fill(buffers.loss_mask.begin(), buffers.loss_mask.end(), 0.0f);
      }
      const std::string number = sample.is_null() ? "none" : sample.dump();
      expect_sample(arrays, expected["name"].get<std::string>() + "/" + number, buffers);
    }
  }
}

TEST(GptSample, DocumentsAreKeptApart) {
  GptSampleOptions options;
  options.seq_length = 4;
  options.create_attention_mask = true;
  SampleBuffers buffers(options);
  make_gpt_sample(std::vector<std::int64_t>{1, 2, 3, 4, 5}, options, buffers.view());
  separate_documents(std::vector<Index>{0, 1, 3}, buffers.view());
  EXPECT_EQ(buffers.positions, (std::vector<std::int64_t>{0, 0, 1, 0}));
  EXPECT_EQ(buffers.mask, (std::vector<std::uint8_t>{0, 1, 1, 1,  //
                                                     1, 0, 1, 1,  //
                                                     1, 0, 0, 1,  //
                                                     1, 1, 1, 0}));
}

TEST(GptSample, PaddingHasNoLossAndBecomesTokenZero) {
  GptSampleOptions options;
  options.seq_length = 4;
  options.pad = 7;
  SampleBuffers buffers(options);
  make_gpt_sample(std::vector<std::int64_t>{1, 2, 3, 7, 7}, options, buffers.view());
  EXPECT_EQ(buffers.tokens, (std::vector<std::int64_t>{1, 2, 3, 0}));
  EXPECT_EQ(buffers.labels, (std::vector<std::int64_t>{2, 3, 0, 0}));
  EXPECT_EQ(buffers.loss_mask, (std::vector<float>{1, 1, 0, 0}));
}

}  // namespace gpt_sample_test
}  // namespace mpitron::data
