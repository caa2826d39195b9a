#pragma once
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "inference/step_runner.h"
#include "models/t5/t5_batch.h"
#include "models/t5/t5_model.h"
#include "support/masked_batch.h"
#include "tensor/host_copy.h"

namespace mpitron::test {

inline models::Model::Share whole(const config::ModelConfig& config) {
  return {.groups = comm::groups_of_one(*comm::make_single_world()),
          .part = nn::whole_model(config)};
}

inline tensor::Tensor column(device::Device& device, std::span<const inference::TokenId> ids) {
  const tensor::Tensor host =
      tensor::empty_on_host(device, {static_cast<Index>(ids.size()), 1}, DType::i64);
  std::ranges::copy(ids, host.data<std::int64_t>());
  return tensor::to_device(device, host);
}

inline inference::TokenIds counted(std::size_t count) {
  inference::TokenIds ids(count);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

/// Logits of all of the answer's tokens, by the forward pass of training.
inline std::vector<float> logits_at_once(device::Device& device, const models::Model& model,
                                         const inference::TokenIds& prompt,
                                         const inference::TokenIds& answer) {
  const models::Batch batch{{models::kTokens, column(device, prompt)},
                            {models::kPositionIds, column(device, counted(prompt.size()))},
                            {models::kDecoderTokens, column(device, answer)},
                            {models::kDecoderPositionIds, column(device, counted(answer.size()))}};
  autograd::Context context{.device = device, .mode = autograd::Mode::evaluate};
  const tensor::Tensor rows = tensor::to_host(device, model.logits(context, batch).value);
  return {rows.data<float>(), rows.data<float>() + rows.numel()};
}

/// Two texts of different lengths, whose answers grow in steps of different sizes, beside each
/// other: what is left of the encoder's output gives what the whole model would.
inline void expect_decodes_what_was_encoded(device::Device& device) {
  for (const auto positions :
       {config::PositionEmbedding::learned_absolute, config::PositionEmbedding::rope,
        config::PositionEmbedding::relative}) {
    config::ModelConfig config = tiny_encoder(config::ModelKind::t5);
    config.position_embedding_type = positions;
    models::T5Model model(config, device, whole(config));
    model.initialize();
    inference::StepRunner runner(device, model, {.block_size = 2, .blocks = 20, .slots = 2});
    runner.warm_up();
    const inference::TokenIds first = {3, 7, 5, 1, 9}, second = {4, 4, 8};
    const std::vector<Index> encoded[] = {{0, 1, 2}, {3, 4}}, blocks[] = {{5, 6}, {7, 8}};
    const inference::TokenIds answers[] = {{2, 6, 1, 5}, {2, 9, 9, 3}};
    std::vector<float> got[2];
    for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 3}, {3, 4}}) {
      inference::StepPlan plan;
      for (int i = 0; i < 2; ++i) {
        plan.sequences.push_back({.slot = i,
                                  .first_position = static_cast<Index>(begin),
                                  .tokens = std::span(answers[i]).subspan(begin, end - begin),
                                  .blocks = blocks[i],
                                  .encoder_blocks = encoded[i],
                                  .encoder_size = i == 0 ? 5 : 3});
        if (begin == 0) {
          plan.sequences.back().encoder_tokens = i == 0 ? first : second;
        }
      }
      const std::span<const float> rows = runner.logits(runner.run(plan));
      const auto half = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
      got[0].insert(got[0].end(), rows.begin(), half);
      got[1].insert(got[1].end(), half, rows.end());
    }
    for (int i = 0; i < 2; ++i) {
      const std::vector<float> want =
          logits_at_once(device, model, i == 0 ? first : second, answers[i]);
      ASSERT_EQ(got[i].size(), want.size());
      for (std::size_t j = 0; j < want.size(); ++j) {
        ASSERT_NEAR(got[i][j], want[j], 1e-5) << i << " " << j;
      }
    }
  }
}

}  // namespace mpitron::test
