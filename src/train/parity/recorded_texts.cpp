#include <algorithm>
#include <iterator>

#include "models/bert/bert_batch.h"
#include "models/t5/t5_batch.h"
#include "train/parity/recorded_batches.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

std::vector<std::int64_t> integers(const io::SafetensorsFile& file, const char* name) {
  return recorded_column<std::int32_t, std::int64_t>(file, name);
}

/// Derives the padding mask: token 0 is padding.
std::vector<std::int64_t> padding_of(const std::vector<std::int64_t>& tokens) {
  std::vector<std::int64_t> mask;
  std::ranges::transform(tokens, std::back_inserter(mask),
                         [](std::int64_t token) { return token != 0 ? 1 : 0; });
  return mask;
}

}  // namespace

RecordedTexts::RecordedTexts(const std::filesystem::path& folder, config::SampleKind kind)
    : path_(folder / "batches.safetensors") {
  const io::SafetensorsFile file(path_);
  loss_mask_ = recorded_column<float, float>(file, "loss_mask");
  rows_ = file.at("loss_mask").shape.at(0);
  if (kind == config::SampleKind::sentence_pairs) {
    tokens_ = integers(file, "text");
    labels_ = integers(file, "labels");
    padding_mask_ = integers(file, "padding_mask");
    token_types_ = integers(file, "types");
    sentence_order_ = integers(file, "is_random");
  } else if (kind == config::SampleKind::masked_spans) {
    tokens_ = integers(file, "text_enc");
    padding_mask_ = padding_of(tokens_);
    decoder_tokens_ = integers(file, "text_dec");
    decoder_padding_mask_ = padding_of(decoder_tokens_);
    labels_ = integers(file, "labels");
  } else {
    read_running_text(file);
  }
}

void RecordedTexts::read_running_text(const io::SafetensorsFile& file) {
  const std::vector<std::int64_t> text = integers(file, "tokens");
  const Index width = file.at("tokens").shape.at(1);  // s + 1
  for (Index i = 0; i < static_cast<Index>(text.size()); ++i) {
    if (i % width < width - 1) {
      tokens_.push_back(text[static_cast<std::size_t>(i)]);
      labels_.push_back(text[static_cast<std::size_t>(i + 1)]);
    }
  }
}

HostMicrobatch RecordedTexts::rows(Index first, Index count) {
  if (first + count > rows_) {
    throw_data("{}: rows {} to {} wanted, {} recorded", path_.string(), first, first + count,
               rows_);
  }
  const auto part = [&](const auto& column) { return recorded_rows(column, rows_, first, count); };
  return {.samples = count,
          .sequence_length = static_cast<Index>(tokens_.size()) / rows_,
          .first_sample = first,
          .columns = {{models::kTokens, part(tokens_)},
                      {models::kLabels, part(labels_)},
                      {models::kLossMask, part(loss_mask_)},
                      {models::kPaddingMask, part(padding_mask_)},
                      {models::kTokenTypes, part(token_types_)},
                      {models::kSentenceOrder, part(sentence_order_)},
                      {models::kDecoderTokens, part(decoder_tokens_)},
                      {models::kDecoderPaddingMask, part(decoder_padding_mask_)}}};
}

}  // namespace mpitron::train
