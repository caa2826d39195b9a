#include "models/make_model.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "models/bert/bert_batch.h"
#include "models/llava/llava_batch.h"
#include "models/t5/t5_batch.h"
#include "models/vit/vit_batch.h"
#include "support/image_batch.h"

namespace mpitron::models {
namespace make_model_test {

config::ModelConfig tiny(const config::ModelFamily& family) {
  config::ModelConfig config =
      family.has_words() ? test::tiny_gpt() : test::tiny_vit(config::VisionTask::classify);
  config.kind = family.kind;
  config.decoder_seq_length = family.encoder_decoder ? config.seq_length : 0;
  if (family.samples == config::SampleKind::image_texts) {
    config.vlm = config::VlmConfig{.tower_layers = 1, .tile = 4, .patch = 2};
  }
  if (family.by_letters) {
    config.hybrid.pattern = "*-";
  }
  return config;
}

/// Ranks that have not read a batch know its tensors by the list alone.
TEST(MakeModel, EveryFamilyMakesBatchesOfTheFieldsThatItLists) {
  const auto device = device::make_device("host");
  for (const config::ModelFamily& family : config::model_families()) {
    SCOPED_TRACE(family.name);
    const config::ModelConfig config = tiny(family);
    const auto model = make_model(config, *device,
                                  {.groups = comm::groups_of_one(*comm::make_single_world()),
                                   .part = nn::whole_model(config)});
    const Index s = config.seq_length, pixels = 3 * 4 * 4;
    const std::vector<std::int64_t> ids(static_cast<std::size_t>(s), 1), one{1}, none{0};
    const std::vector<float> mask(static_cast<std::size_t>(s), 1.f),
        image(static_cast<std::size_t>(pixels), 0.5f);
    const HostMicrobatch microbatch{.samples = 1,
                                    .sequence_length = s,
                                    .columns = {{kTokens, ids},
                                                {kLabels, ids},
                                                {kLossMask, mask},
                                                {kPaddingMask, ids},
                                                {kTokenTypes, ids},
                                                {kSentenceOrder, one},
                                                {kDecoderTokens, ids},
                                                {kDecoderPaddingMask, ids},
                                                {kPixels, image},
                                                {kImagesPerRow, none}}};
    const Batch batch = model->batch(microbatch, {.map = {}, .length = s});
    EXPECT_FALSE(batch.entries().empty());
    for (const Batch::Entry& entry : batch.entries()) {
      EXPECT_EQ(std::ranges::count(model->batch_fields(), entry.name), 1) << entry.name;
    }
  }
}

}  // namespace make_model_test
}  // namespace mpitron::models
