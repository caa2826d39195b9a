#include "train/batches/made_up_corpus.h"

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
      vocabulary_(model.padded_vocab_size) {}

HostMicrobatch MadeUpCorpus::rows(Index first, Index count) {
  for (auto* column :
       {&tokens_, &labels_, &padding_, &types_, &order_, &decoder_, &decoder_padding_}) {
    column->clear();
  }
  mask_.clear();
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
