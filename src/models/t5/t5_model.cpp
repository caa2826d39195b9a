#include "models/t5/t5_model.h"

#include <algorithm>

#include "models/t5/t5_batch.h"
#include "ops/parallel/sequence_rows.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

namespace {

/// Returns the part of the encoder's `layers` that a chunk has, of the layers of both; its last
/// norm comes with its last layer.
nn::ModelPart encoder_part(const nn::ModelPart& part, Index layers) {
  const Index first = std::min(part.first_layer, layers);
  const Index end = std::min(part.first_layer + part.num_layers, layers);
  return {
      .first_layer = first, .num_layers = end - first, .has_output = end > first && end == layers};
}

/// Returns the part of the decoder, counted from its first layer.
nn::ModelPart decoder_part(const nn::ModelPart& part, Index encoder_layers) {
  const Index first = std::max(part.first_layer, encoder_layers);
  const Index end = std::max(part.first_layer + part.num_layers, encoder_layers);
  return {.first_layer = first - encoder_layers,
          .num_layers = end - first,
          .has_output = part.has_output};
}

}  // namespace

T5Model::T5Model(const config::ModelConfig& config, device::Device& device, Share share)
    : Model(config, device, std::move(share)),
      encoder_bias_(
          make_bias(encoder_part(part(), config.num_layers), "encoder", config.seq_length, true)),
      decoder_bias_(make_bias(decoder_part(part(), config.num_layers), "decoder",
                              config.decoder_seq_length, false)),
      encoder_(builder("encoder."), encoder_part(part(), config.num_layers)),
      decoder_(builder("decoder."), decoder_part(part(), config.num_layers), config.num_layers) {
  if (part().has_output) {
    make_output_weight();
    make_output_bias("lm_head.output_layer.bias");
  }
}

std::optional<nn::RelativePositionBias> T5Model::make_bias(const nn::ModelPart& part,
                                                           const std::string& prefix, Index s,
                                                           bool bidirectional) const {
  const bool relative = config().position_embedding_type == config::PositionEmbedding::relative;
  if (!relative || part.num_layers == 0) {
    return std::nullopt;
  }
  return nn::RelativePositionBias(builder(prefix + "_relative_pos_emb."), device(), s,
                                  bidirectional);
}

T5Model::Streams T5Model::start(Context& context, const Batch& batch, const Var& input) const {
  if (embedding()) {
    return {
        embedding()->forward(context, {.ids = batch[kTokens], .position_ids = batch[kPositionIds]}),
        embedding()->forward(context, {.ids = batch[kDecoderTokens],
                                       .position_ids = batch[kDecoderPositionIds],
                                       .site = nn::DropoutSite::decoder_embedding})};
  }
  const Index s = batch[kTokens].shape()[0], both = s + batch[kDecoderTokens].shape()[0];
  const Index rows = input.shape()[0], encoder_rows = rows * s / both;
  return {ops::take_rows(context, input, 0, encoder_rows),
          ops::take_rows(context, input, encoder_rows, rows)};
}

T5Model::Streams T5Model::run(Context& context, const Batch& batch, const Var& input) const {
  Streams streams = start(context, batch, input);
  streams.encoder = run_encoder(context, batch, streams.encoder);
  nn::LayerInputs decoder = decoder_inputs(context, batch, streams.decoder);
  decoder.memory = nn::Memory{streams.encoder, batch[kAttentionMask]};
  streams.decoder = decoder_.forward(context, streams.decoder, decoder);
  return streams;
}

Batch T5Model::batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const {
  return t5_batch(device(), microbatch, slice);
}

std::span<const std::string_view> T5Model::batch_fields() const {
  return t5_fields();
}

Field<std::uint8_t> T5Model::padding_of_logits() const {
  return kDecoderAttentionMask;
}

Var T5Model::run_encoder(Context& context, const Batch& batch, const Var& stream) const {
  nn::LayerInputs inputs{.rotary = rotary_rows(context, whole_rows(stream)),
                         .attention_mask = batch[kAttentionMask]};
  if (encoder_bias_) {
    // Distances of a text that is shorter than the longest are those in the middle.
    const Index s = whole_rows(stream), longest = config().seq_length;
    const Var bias = encoder_bias_->forward(context);
    inputs.score_bias =
        s == longest ? bias : ops::take_rows(context, bias, longest - s, longest + s - 1);
  }
  return encoder_.forward(context, stream, inputs);
}

nn::LayerInputs T5Model::decoder_inputs(Context& context, const Batch& batch,
                                        const Var& stream) const {
  nn::LayerInputs inputs{.rotary = rotary_rows(context, whole_rows(stream)),
                         .attention_mask = batch[kDecoderAttentionMask]};
  if (decoder_bias_) {
    inputs.score_bias = decoder_bias_->forward(context);
  }
  return inputs;
}

void T5Model::encode(Context& context, const Batch& batch) const {
  const Var x =
      embedding()->forward(context, {.ids = batch[kTokens], .position_ids = batch[kPositionIds]});
  decoder_.keep_encoded(context, run_encoder(context, batch, x));
}

Var T5Model::run_cached(Context& context, const Batch& batch) const {
  const Var x =
      embedding()->forward(context, {.ids = batch[kTokens], .position_ids = batch[kPositionIds]});
  return decoder_.forward(context, x, decoder_inputs(context, batch, x));
}

Var T5Model::hidden(Context& context, const Batch& batch, const Var& input) const {
  if (context.cached != nullptr) {
    return run_cached(context, batch);
  }
  const Streams streams = run(context, batch, input);
  return ops::join_rows(context, streams.encoder, streams.decoder);
}

Var T5Model::logits(Context& context, const Batch& batch, const Var& input) const {
  return whole_logits(context, run(context, batch, input).decoder);
}

std::vector<Objective> T5Model::objectives(Context& context, const Batch& batch,
                                           const Var& input) const {
  return {{.losses = token_losses(context, run(context, batch, input).decoder, batch[kLabels]),
           .mask = batch[kLossMask],
           .count = batch.loss_tokens}};
}

}  // namespace mpitron::models
