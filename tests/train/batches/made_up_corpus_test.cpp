#include "train/batches/made_up_corpus.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "models/bert/bert_batch.h"
#include "models/llava/llava_batch.h"
#include "models/t5/t5_batch.h"
#include "support/image_batch.h"
#include "train/tiny_run.h"

namespace mpitron::train {
namespace made_up_corpus_test {

std::vector<std::int64_t> copy(std::span<const std::int64_t> x) {
  return {x.begin(), x.end()};
}

TEST(MadeUpCorpus, ASampleIsAFunctionOfItsNumber) {
  for (const std::vector<std::string>& model : {std::vector<std::string>{},
                                                {"--model", "bert"},
                                                {"--model", "t5", "--decoder-seq-length", "5"}}) {
    MadeUpCorpus corpus(tiny_run(model).model), again(tiny_run(model).model);
    const HostMicrobatch both = corpus.rows(3, 2);
    const auto tokens = copy(both[models::kTokens]), labels = copy(both[models::kLabels]);
    const HostMicrobatch second = again.rows(4, 1);
    EXPECT_EQ(copy(second[models::kTokens]),
              (std::vector<std::int64_t>{tokens.begin() + 8, tokens.end()}));
    EXPECT_EQ(copy(second[models::kLabels]),
              (std::vector<std::int64_t>{labels.end() - std::ssize(second[models::kLabels]),
                                         labels.end()}));
  }
}

TEST(MadeUpCorpus, HasWhatTheModelReads) {
  MadeUpCorpus bert(tiny_run({"--model", "bert"}).model);
  const HostMicrobatch parts = bert.rows(1, 1);
  EXPECT_EQ(copy(parts[models::kPaddingMask]), (std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(copy(parts[models::kTokenTypes]), (std::vector<std::int64_t>{0, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(copy(parts[models::kSentenceOrder]), std::vector<std::int64_t>{1});
  MadeUpCorpus t5(tiny_run({"--model", "t5", "--decoder-seq-length", "5"}).model);
  const HostMicrobatch streams = t5.rows(1, 2);
  EXPECT_EQ(streams[models::kDecoderTokens].size(), 10U);
  EXPECT_EQ(copy(streams[models::kDecoderPaddingMask]),
            (std::vector<std::int64_t>{1, 1, 1, 1, 0, 1, 1, 1, 1, 1}));
}

TEST(MadeUpCorpus, TextsHaveTheirImages) {
  config::ModelConfig model = tiny_run().model;
  model.vlm = config::VlmConfig{.tower_layers = 1, .tile = 8, .patch = 4, .text_length = 8};
  model.vlm->tiling.most_tiles = 2;
  MadeUpCorpus corpus(model);
  const HostMicrobatch four = corpus.rows(0, 4);
  EXPECT_EQ(std::ranges::count(four[models::kTokens], config::kImageToken), 4);
  EXPECT_EQ(copy(four[models::kImagesPerRow]), (std::vector<std::int64_t>{1, 0, 2, 1}));
  EXPECT_EQ(copy(four[models::kTilesPerImage]), (std::vector<std::int64_t>{1, 1, 1, 2}));
  EXPECT_EQ(four[models::kPixels].size(), 5U * 3 * 8 * 8);
  EXPECT_TRUE(four[models::kSegments].empty());
}

TEST(MadeUpCorpus, OfDinoAnImageIsAllItsCrops) {
  config::ModelConfig model = test::tiny_vit(config::VisionTask::dino);
  model.vision.dino = {.local_size = 2, .local_crops = 3};
  MadeUpCorpus corpus(model), again(model);
  const HostMicrobatch two = corpus.rows(5, 2);
  const auto one = static_cast<std::size_t>(model.vision.crop_pixels());
  EXPECT_EQ(one, 3U * (2 * 4 * 4 + 3 * 2 * 2));
  ASSERT_EQ(two[models::kPixels].size(), 2 * one);
  const auto second = again.rows(6, 1)[models::kPixels];
  EXPECT_TRUE(std::ranges::equal(two[models::kPixels].subspan(one), second));
}

}  // namespace made_up_corpus_test
}  // namespace mpitron::train
