#include "data/sft_dataset.h"

#include <algorithm>
#include <utility>

#include "utils/check.h"
#include "utils/error.h"

namespace mpitron::data {

SftDataset::SftDataset(std::shared_ptr<const ConversationFile> file, SftDatasetOptions options,
                       EncodeConversation encode)
    : file_(std::move(file)),
      options_(std::move(options)),
      description_(describe(options_.description)),
      encode_(std::move(encode)) {
  MPITRON_CHECK(options_.begin >= 0 && options_.end <= file_->size(), options_.end, file_->size());
  MPITRON_CHECK(options_.description.seq_length > 1, options_.description.seq_length);
  if (options_.begin >= options_.end) {
    throw_usage("--split: none of the {} conversations of {} falls to this split; give it more",
                file_->size(), file_->path());
  }
  if (options_.pad < 0) {
    throw_usage("--sft: the tokenizer has no token for padding; choose one that has");
  }
}

EncodedConversation SftDataset::padded(Index sample) const {
  MPITRON_CHECK(sample >= 0 && sample < size(), sample, size());
  const Index conversation = options_.begin + sample % (options_.end - options_.begin);
  EncodedConversation encoded = encode_(file_->read(conversation));
  MPITRON_CHECK(encoded.tokens.size() == encoded.targets.size(), encoded.tokens.size());
  const auto s = static_cast<std::size_t>(options_.description.seq_length);
  for (auto* values : {&encoded.tokens, &encoded.targets}) {
    values->resize(std::min(values->size(), s - 1));
    values->push_back(options_.eod);
    values->resize(s + 1, options_.pad);
  }
  return encoded;
}

void SftDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  const EncodedConversation encoded = padded(sample);
  MPITRON_CHECK(tokens.size() <= encoded.tokens.size(), tokens.size());
  std::copy_n(encoded.tokens.begin(), tokens.size(), tokens.begin());
}

void SftDataset::read_row(Index sample, const GptSampleOptions& options,
                          std::span<std::int64_t> text, const GptSample& row) const {
  const EncodedConversation encoded = padded(sample);
  std::copy_n(encoded.tokens.begin(), text.size(), text.begin());
  make_gpt_sample(text, options, row);
  for (std::size_t i = 0; i < row.labels.size(); ++i) {
    const std::int64_t target = encoded.targets[i + 1];
    const bool learned = target != EncodedConversation::kNotLearned;
    row.tokens[i] = encoded.tokens[i];
    row.labels[i] = learned ? target : 0;
    row.loss_mask[i] = learned && target != options_.pad ? 1.0f : 0.0f;
  }
}

void SftDataset::add_shares(Index samples, std::vector<SourceShare>& shares) const {
  const Index conversations = options_.end - options_.begin;
  shares.push_back({.name = file_->path(),
                    .sequences = conversations,
                    .epochs = (size() + conversations - 1) / conversations,
                    .samples = size(),
                    .used = samples});
}

}  // namespace mpitron::data
