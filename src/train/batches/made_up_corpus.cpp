#include "train/batches/made_up_corpus.h"

#include <cmath>

namespace mpitron::train {
namespace {

void append_if(bool there, std::vector<std::int64_t>& column, std::int64_t value) {
  if (there) {
    column.push_back(value);
  }
}

}  // namespace

MadeUpCorpus::MadeUpCorpus(const config::ModelConfig& model)
    : kind_(model.kind),
      length_(model.seq_length),
      labels_length_(model.decoder_seq_length > 0 ? model.decoder_seq_length : model.seq_length),
      vocabulary_(model.padded_vocab_size),
      vision_(model.vision) {}

HostMicrobatch MadeUpCorpus::rows(Index first, Index count) {
  for (auto* column :
       {&tokens_, &labels_, &padding_, &types_, &order_, &decoder_, &decoder_padding_}) {
    column->clear();
  }
  for (auto* column : {&mask_, &pixels_, &patch_mask_}) {
    column->clear();
  }
  if (kind_ == config::ModelKind::vit) {
    for (Index sample = first; sample < first + count; ++sample) {
      add_image(sample);
    }
    return {.samples = count,
            .sequence_length = length_,
            .labels = labels_,
            .loss_mask = mask_,
            .first_sample = first,
            .pixels = pixels_,
            .patch_mask = patch_mask_,
            .vision = &vision_};
  }
  for (Index sample = first; sample < first + count; ++sample) {
    add(sample);
  }
  return {.samples = count,
          .sequence_length = length_,
          .tokens = tokens_,
          .labels = labels_,
          .position_ids = {},
          .loss_mask = mask_,
          .attention_mask = {},
          .first_sample = first,
          .padding_mask = padding_,
          .token_types = types_,
          .sentence_order = order_,
          .decoder_tokens = decoder_,
          .decoder_padding_mask = decoder_padding_};
}

void MadeUpCorpus::add_image(Index sample) {
  labels_.push_back(word(sample, 1) % vision_.classes);
  mask_.push_back(1);
  const Index numbers = vision_.channels * vision_.image_height * vision_.image_width;
  for (Index i = 0; i < numbers; ++i) {
    pixels_.push_back(std::sin(static_cast<float>((sample + 3) * (i + 1)) * 0.01f));
  }
  if (vision_.task == config::VisionTask::inpaint) {
    for (Index i = 0; i < vision_.patches(); ++i) {
      patch_mask_.push_back((i + sample) % 3 == 0 ? 1.f : 0.f);
    }
  }
}

void MadeUpCorpus::add(Index sample) {
  using enum config::ModelKind;
  const Index text = length_ - (kind_ == gpt ? 0 : sample % 3);
  const Index labels = labels_length_ - (kind_ == gpt ? 0 : sample % 2);
  for (Index i = 0; i < length_; ++i) {
    tokens_.push_back(word(sample, i));
    append_if(kind_ != gpt, padding_, i < text ? 1 : 0);
    append_if(kind_ == bert, types_, i < text / 2 ? 0 : 1);
  }
  append_if(kind_ == bert, order_, sample % 4 == 1 ? 1 : 0);
  for (Index i = 0; i < labels_length_; ++i) {
    labels_.push_back(word(sample, i + 1));
    mask_.push_back(i < labels ? 1.f : 0.f);
    append_if(kind_ == t5, decoder_, word(sample, i + 3));
    append_if(kind_ == t5, decoder_padding_, i < labels ? 1 : 0);
  }
}

}  // namespace mpitron::train
