#include "data/sft_dataset.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "utils/check.h"
#include "utils/error.h"

namespace mpitron::data {

SftDataset::SftDataset(std::shared_ptr<const ConversationFile> file, SftDatasetOptions options,
                       EncodeConversation encode)
    : file_(std::move(file)), options_(std::move(options)), encode_(std::move(encode)) {
  MPITRON_CHECK(options_.begin >= 0 && options_.end <= file_->size(), options_.end, file_->size());
  MPITRON_CHECK(options_.seq_length > 1, options_.seq_length);
  if (options_.begin >= options_.end) {
    throw_usage("--split: none of the {} conversations of {} falls to this split; give it more",
                file_->size(), file_->path());
  }
  if (options_.pad < 0) {
    throw_usage("--sft: the tokenizer has no token for padding; choose one that has");
  }
}

void SftDataset::read(Index sample, const GptSample& out) const {
  MPITRON_CHECK(sample >= 0 && sample < size(), sample, size());
  const Index conversation = options_.begin + sample % (options_.end - options_.begin);
  EncodedConversation encoded = encode_(file_->read(conversation));
  MPITRON_CHECK(encoded.tokens.size() == encoded.targets.size(), encoded.tokens.size());
  const auto s = static_cast<std::size_t>(options_.seq_length);
  for (auto* values : {&encoded.tokens, &encoded.targets}) {
    values->resize(std::min(values->size(), s - 1));
    values->push_back(options_.eod);
    values->resize(s + 1, options_.pad);
  }
  std::copy_n(encoded.tokens.begin(), s, out.tokens.begin());
  std::copy_n(encoded.targets.begin() + 1, s, out.labels.begin());
  std::iota(out.position_ids.begin(), out.position_ids.end(), std::int64_t{0});
  for (std::size_t i = 0; i < s; ++i) {
    const bool counts =
        out.labels[i] != options_.pad && out.labels[i] != EncodedConversation::kNotLearned;
    out.loss_mask[i] = counts ? 1.0f : 0.0f;
  }
}

}  // namespace mpitron::data
