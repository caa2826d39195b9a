#include "convert/model_logits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/bert/bert_batch.h"
#include "models/llava/llava_batch.h"
#include "models/make_model.h"
#include "models/t5/t5_batch.h"
#include "models/vit/vit_batch.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/initialize.h"
#include "tensor/host_fill.h"
#include "utils/numbers/philox.h"

// The same tokens through two models, as proof that a conversion kept the function and not only the
// numbers.

namespace mpitron::convert {
namespace {

using tensor::Tensor;

/// Returns so many numbers without a pattern, between -1 and 1: an image, or the tile that stands
/// where the prompt has one.
std::vector<float> made_up_pixels(Index count) {
  std::vector<float> pixels;
  for (Index i = 0; i < count; ++i) {
    pixels.push_back(static_cast<float>(i * 37 % 101) / 50 - 1);
  }
  return pixels;
}

/// Computes the scores of an image's classes.
autograd::Var image_logits(autograd::Context& context, const models::Model& model) {
  const std::vector<float> pixels = made_up_pixels(model.config().vision.pixels()), weight{1};
  const std::vector<std::int64_t> label{0};
  const models::HostMicrobatch microbatch{
      .samples = 1,
      .sequence_length = model.config().seq_length,
      .columns = {
          {models::kPixels, pixels}, {models::kLabels, label}, {models::kLossMask, weight}}};
  return model.logits(context, model.batch(microbatch, {}));
}

/// Computes the logits of the prompt, given as all that a model of any kind reads: two parts of a
/// sample, and the decoder's words beside the encoder's.
autograd::Var logits_of(autograd::Context& context, const models::Model& model,
                        const std::vector<std::int64_t>& prompt) {
  std::vector<std::int64_t> types(prompt.size());
  std::fill(types.begin() + static_cast<std::ptrdiff_t>(prompt.size() / 2), types.end(), 1);
  const Index length = model.config().seq_length;
  models::HostMicrobatch microbatch{.samples = 1,
                                    .sequence_length = length,
                                    .columns = {{models::kTokens, prompt},
                                                {models::kTokenTypes, types},
                                                {models::kDecoderTokens, prompt}}};
  const std::vector<std::int64_t> one{1};
  const std::vector<float> learned(prompt.size());
  std::vector<float> pixels;
  if (const std::optional<config::VlmConfig>& vlm = model.config().vlm) {
    pixels = made_up_pixels(vlm->pixels());
    microbatch.columns.set(models::kLabels, prompt);
    microbatch.columns.set(models::kLossMask, learned);
    microbatch.columns.set(models::kPixels, pixels);
    microbatch.columns.set(models::kImagesPerRow, one);
    microbatch.columns.set(models::kTilesPerImage, one);
  }
  return model.logits(context, model.batch(microbatch, {.map = {}, .length = length}));
}

}  // namespace

/// Draws tokens by Philox, so that every machine proves with the same prompt; the second token of a
/// model with images stands for one.
std::vector<std::int64_t> make_prompt(Index length, const ModelDescription& description) {
  if (!description.model.family().has_words()) {
    return {};
  }
  const std::optional<config::VlmConfig>& vlm = description.model.vlm;
  length = std::min(length,
                    description.model.max_position_embeddings - (vlm ? vlm->positions() - 1 : 0));
  const auto words = static_cast<std::uint32_t>(description.stored_vocab_size());
  std::vector<std::int64_t> prompt;
  for (Index i = 0; i < length; ++i) {
    prompt.push_back(Philox::generate({static_cast<std::uint32_t>(i), 0, 0, 0}, {1, 0})[0] % words);
  }
  if (vlm && length > 1) {
    prompt[1] = config::kImageToken;
  }
  return prompt;
}

std::unique_ptr<models::Model> make_model(const config::ModelConfig& config,
                                          device::Device& device) {
  return models::make_model(config, device,
                            {.groups = comm::groups_of_one(*comm::make_single_world()),
                             .part = {.num_layers = config.all_layers(),
                                      .prediction_depths = config.mtp_num_layers.value_or(0)}});
}

void load_values(device::Device& device, models::Model& model, TensorSource& ours,
                 const std::function<void(autograd::Parameter&)>& loaded) {
  for (autograd::Parameter& parameter : model.parameters()) {
    if (!parameter.value) {
      ops::allocate(device, parameter, model.config().params_dtype);
    }
    const HostTensor value = cast(ours.read(parameter.name), parameter.value.dtype());
    MPITRON_CHECK(value.shape() == parameter.shape, parameter.name);
    tensor::fill(device, parameter.value, [&](const device::TensorView& to) {
      tensor::take_shard({value.bytes().data(), value.dtype(), value.shape()},
                         parameter.placement.shard, to);
    });
    if (loaded) {
      loaded(parameter);
    }
  }
  for (autograd::Buffer& buffer : model.parameters().buffers()) {
    if (!buffer.value) {
      ops::initialize(device, buffer);
    }
    if (!buffer.fp8_history) {  // the rest is state of training
      const HostTensor value = cast(ours.read(buffer.name), buffer.value.dtype());
      MPITRON_CHECK(value.shape() == buffer.shape, buffer.name);
      tensor::fill(device, buffer.value, [&](const device::TensorView& to) {
        std::ranges::copy(value.bytes(), static_cast<std::byte*>(to.data));
      });
    }
  }
}

std::unique_ptr<models::Model> load_model(const config::ModelConfig& config, device::Device& device,
                                          TensorSource& ours) {
  auto model = make_model(config, device);
  model->allocate();
  load_values(device, *model, ours);
  return model;
}

Logits model_logits(const ModelDescription& description, TensorSource& ours,
                    const std::vector<std::int64_t>& prompt) {
  config::ModelConfig config = description.model;
  const bool has_words = config.family().has_words();
  if (has_words) {
    config.seq_length = static_cast<Index>(prompt.size());
  }
  if (std::ranges::count(prompt, config::kImageToken) > 0) {
    config.seq_length += config.vlm->positions() - 1;
  }
  config.decoder_seq_length = config.family().encoder_decoder ? config.seq_length : 0;
  // Both models are judged without chance.
  config.attention_dropout = config.hidden_dropout = 0;
  const auto device = device::make_device("host");
  const auto model = load_model(config, *device, ours);
  autograd::Context context{.device = *device, .mode = autograd::Mode::evaluate};
  const autograd::Var logits = ops::cast(
      context, has_words ? logits_of(context, *model, prompt) : image_logits(context, *model),
      DType::f32);
  const auto* values = logits.value.data<float>();
  return {.rows = has_words ? config.seq_length : 1,
          .columns = has_words ? config.padded_vocab_size : config.vision.classes,
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
      // NaN compares false with everything and would be passed over by max alone.
      largest = std::isfinite(difference) ? std::max(largest, difference)
                                          : std::numeric_limits<double>::infinity();
    }
  }
  return largest;
}

}  // namespace mpitron::convert
