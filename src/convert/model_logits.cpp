#include "convert/model_logits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "models/gpt_model.h"
#include "ops/cast.h"
#include "utils/philox.h"

namespace mpitron::convert {
namespace {

using tensor::Tensor;

/// [s, 1] int64.
Tensor column(device::Device& device, const std::vector<std::int64_t>& values) {
  Tensor result = Tensor::empty(device, {static_cast<Index>(values.size()), 1}, DType::i64);
  std::ranges::copy(values, result.data<std::int64_t>());
  return result;
}

void load(models::GptModel& model, TensorSource& ours) {
  for (autograd::Parameter& parameter : model.parameters()) {
    const HostTensor stored = ours.read(parameter.name);
    MPITRON_CHECK(stored.shape() == parameter.shape, parameter.name);
    const HostTensor value = cast(stored, parameter.value.dtype());
    std::memcpy(parameter.value.view().data, value.bytes().data(), value.bytes().size());
  }
}

}  // namespace

std::vector<std::int64_t> make_prompt(Index length, const ModelDescription& description) {
  length = std::min(length, description.model.max_position_embeddings);
  const auto words = static_cast<std::uint32_t>(description.stored_vocab_size());
  std::vector<std::int64_t> prompt;
  for (Index i = 0; i < length; ++i) {
    prompt.push_back(Philox::generate({static_cast<std::uint32_t>(i), 0, 0, 0}, {1, 0})[0] % words);
  }
  return prompt;
}

Logits model_logits(const ModelDescription& description, TensorSource& ours,
                    const std::vector<std::int64_t>& prompt) {
  config::ModelConfig config = description.model;
  config.seq_length = static_cast<Index>(prompt.size());
  config.attention_dropout = config.hidden_dropout = 0;
  const auto device = device::make_device("host");
  models::GptModel model(config, *device);
  model.initialize();
  load(model, ours);
  std::vector<std::int64_t> positions(prompt.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    positions[i] = static_cast<std::int64_t>(i);
  }
  const models::Batch batch{.tokens = column(*device, prompt),
                            .position_ids = column(*device, positions),
                            .labels = {},
                            .attention_mask = {}};
  autograd::Context context{.device = *device, .mode = autograd::Mode::evaluate};
  const autograd::Var logits = ops::cast(context, model.logits(context, batch), DType::f32);
  const auto* values = logits.value.data<float>();
  return {.rows = config.seq_length,
          .columns = config.padded_vocab_size,
          .values = {values, values + logits.value.numel()}};
}

double largest_difference(const Logits& a, const Logits& b, Index columns) {
  MPITRON_CHECK(a.rows == b.rows && columns <= std::min(a.columns, b.columns), a.rows, b.rows,
                columns);
  double largest = 0;
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const float x = a.values[static_cast<std::size_t>(i * a.columns + j)],
                  y = b.values[static_cast<std::size_t>(i * b.columns + j)];
      const double difference = std::abs(static_cast<double>(x) - y);
      largest = std::isfinite(difference) ? std::max(largest, difference)
                                          : std::numeric_limits<double>::infinity();
    }
  }
  return largest;
}

}  // namespace mpitron::convert
