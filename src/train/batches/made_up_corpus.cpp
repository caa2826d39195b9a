#include "train/batches/made_up_corpus.h"

#include <cmath>

#include "models/bert/bert_batch.h"
#include "models/gpt/gpt_batch.h"
#include "models/llava/llava_batch.h"
#include "models/t5/t5_batch.h"
#include "models/vit/vit_batch.h"
#include "utils/error.h"

namespace mpitron::train {

MadeUpCorpus::MadeUpCorpus(const config::ModelConfig& model)
    : family_(model.family()),
      length_(model.seq_length),
      labels_length_(model.decoder_seq_length > 0 ? model.decoder_seq_length : model.seq_length),
      vocabulary_(model.padded_vocab_size),
      vision_(model.vision),
      vlm_(model.vlm),
      pairs_of_answers_(model.preference.has_value()),
      teacher_(model.distillation.has_value()) {
  if (model.text_head) {
    throw_usage("--task: labelled texts are not made up; leave it out here");
  }
}

/// Columns that a model does not read do no harm.
HostMicrobatch MadeUpCorpus::rows(Index first, Index count) {
  for (auto* column :
       {&tokens_, &labels_, &padding_, &types_, &order_, &decoder_, &decoder_padding_,
        &seen_.images, &seen_.tiles, &seen_.segments, &said_.words}) {
    column->clear();
  }
  for (auto* column :
       {&mask_, &seen_.pixels, &seen_.patch_mask, &said_.margins, &said_.pairs, &said_.log_probs}) {
    column->clear();
  }
  for (Index sample = first; sample < first + count; ++sample) {
    if (vlm_) {
      add_conversation(sample);
    } else {
      family_.has_words() ? add(sample) : add_image(sample);
    }
  }
  return {.samples = count,
          .sequence_length = length_,
          .first_sample = first,
          .columns = {{models::kTokens, tokens_},
                      {models::kLabels, labels_},
                      {models::kLossMask, mask_},
                      {models::kPaddingMask, padding_},
                      {models::kTokenTypes, types_},
                      {models::kSentenceOrder, order_},
                      {models::kDecoderTokens, decoder_},
                      {models::kDecoderPaddingMask, decoder_padding_},
                      {models::kPixels, seen_.pixels},
                      {models::kPatchMask, seen_.patch_mask},
                      {models::kImagesPerRow, seen_.images},
                      {models::kTilesPerImage, seen_.tiles},
                      {models::kSegments, seen_.segments},
                      {models::kReferenceMargins, said_.margins},
                      {models::kPairs, said_.pairs},
                      {models::kTeacherIds, said_.words},
                      {models::kTeacherLogProbs, said_.log_probs}}};
}

/// A smooth function of image and pixel.
void MadeUpCorpus::add_pixels(Index image, Index numbers) {
  for (Index i = 0; i < numbers; ++i) {
    seen_.pixels.push_back(std::sin(static_cast<float>((image + 3) * (i + 1)) * 0.01f));
  }
}

/// An image of its class, or all crops of one; every third patch is masked.
void MadeUpCorpus::add_image(Index sample) {
  labels_.push_back(word(sample, 1) % vision_.classes);
  mask_.push_back(1);
  add_pixels(sample, vision_.dino ? vision_.crop_pixels() : vision_.pixels());
  if (vision_.task == config::VisionTask::inpaint) {
    for (Index i = 0; i < vision_.patches(); ++i) {
      seen_.patch_mask.push_back((i + sample) % 3 == 0 ? 1.f : 0.f);
    }
  }
}

/// Two of four samples have an image, one has two, and one none; of tiles an image has one or two
/// where it may.
void MadeUpCorpus::add_conversation(Index sample) {
  constexpr Index kImages[] = {1, 0, 2, 1};
  const Index length = vlm_->text_length, first = static_cast<Index>(tokens_.size());
  for (Index i = 0; i < length; ++i) {
    tokens_.push_back(word(sample, i));
    labels_.push_back(word(sample, i + 1));
    mask_.push_back(i + 2 < length ? 1.f : 0.f);
    if (vlm_->packing_window > 0) {
      seen_.segments.push_back(i < length / 2 ? 0 : 1);
    }
  }
  seen_.images.push_back(kImages[sample % 4]);
  for (Index image = 0; image < seen_.images.back(); ++image) {
    tokens_[static_cast<std::size_t>(first + 1 + sample % 3 + image * (length / 2))] =
        config::kImageToken;
    seen_.tiles.push_back(1 + (vlm_->most_tiles() > 1 ? sample % 2 : 0));
    add_pixels(2 * sample + image, seen_.tiles.back() * vlm_->pixels());
  }
}

/// Words follow a quadratic rule, so that there is something to learn.
void MadeUpCorpus::add(Index sample) {
  const Index text = length_ - (family_.padded() ? sample % 3 : 0);
  const Index labels = labels_length_ - (family_.padded() ? sample % 2 : 0);
  for (Index i = 0; i < length_; ++i) {
    tokens_.push_back(word(sample, i));
    padding_.push_back(i < text ? 1 : 0);
    types_.push_back(i < text / 2 ? 0 : 1);
  }
  order_.push_back(sample % 4 == 1 ? 1 : 0);
  for (Index i = 0; i < labels_length_; ++i) {
    labels_.push_back(word(sample, i + 1));
    mask_.push_back(i < labels ? 1.f : 0.f);
    decoder_.push_back(word(sample, i + 3));
    decoder_padding_.push_back(i < labels ? 1 : 0);
  }
  for (Index i = 0; teacher_ && i < 2 * length_; ++i) {  // two words a token
    said_.words.push_back(word(sample, i + 1));
    said_.log_probs.push_back(i % 2 == 0 ? -0.4f : -1.5f);
  }
  if (pairs_of_answers_) {
    std::fill(mask_.end() - labels_length_ / 2, mask_.end(), -1.f);
    said_.margins.push_back(0.1f * static_cast<float>(sample % 5));
    said_.pairs.push_back(1);
  }
}

}  // namespace mpitron::train
