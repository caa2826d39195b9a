#include "data/gpt/sft_dataset.h"

#include <algorithm>
#include <utility>

#include "utils/check.h"
#include "utils/error.h"

// Conversations for fine-tuning, one a row, as the reference's SFTDataset has them.

namespace mpitron::data {
void check_share(const ConversationFile& file, const SftDatasetOptions& options) {
  MPITRON_CHECK(options.begin >= 0 && options.end <= file.size(), options.end, file.size());
  MPITRON_CHECK(options.description.seq_length > 1, options.description.seq_length);
  if (options.begin >= options.end) {
    throw_usage("--split: none of the {} conversations of {} falls to this split; give it more",
                file.size(), file.path());
  }
  if (options.pad < 0) {
    throw_usage("--sft: the tokenizer has no token for padding; choose one that has");
  }
}

void end_conversation(EncodedConversation& conversation, const SftDatasetOptions& options) {
  MPITRON_CHECK(conversation.tokens.size() == conversation.targets.size(),
                conversation.tokens.size());
  const auto s = static_cast<std::size_t>(options.description.seq_length);
  for (auto* values : {&conversation.tokens, &conversation.targets}) {
    values->resize(std::min(values->size(), s - 1));
    values->push_back(options.eod);
  }
}

SftDataset::SftDataset(std::shared_ptr<const ConversationFile> file, SftDatasetOptions options,
                       EncodeConversation encode)
    : file_(std::move(file)),
      options_(std::move(options)),
      description_(describe(options_.description)),
      encode_(std::move(encode)) {
  check_share(*file_, options_);
}

/// One token more than a row: the last position needs a label.
EncodedConversation SftDataset::padded(Index sample) const {
  MPITRON_CHECK(sample >= 0 && sample < size(), sample, size());
  const Index conversation = options_.begin + sample % (options_.end - options_.begin);
  EncodedConversation encoded = file_->read_encoded(conversation, encode_);
  end_conversation(encoded, options_);
  for (auto* values : {&encoded.tokens, &encoded.targets}) {
    values->resize(static_cast<std::size_t>(options_.description.seq_length) + 1, options_.pad);
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
