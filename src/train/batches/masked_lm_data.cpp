#include "models/bert/bert_batch.h"
#include "models/t5/t5_batch.h"
#include "train/batches/training_data.h"
#include "utils/error.h"

// Data sets and sources of BERT and T5, and the special tokens that their tokenizer must have.

namespace mpitron::train {
namespace {

using tokenizers::TokenId;

/// The ids of T5's sentinels must follow each other.
void set_sentinels(const tokenizers::TokenIds& sentinels, data::MaskedLmVocabulary& vocabulary) {
  if (sentinels.empty()) {
    throw_usage(
        "--vocab-extra-ids 0: T5 marks each masked span with a sentinel token; give "
        "--vocab-extra-ids 100 (and a tokenizer that adds them: BertWordPieceLowerCase, "
        "BertWordPieceCase or SentencePieceTokenizer)");
  }
  vocabulary.first_sentinel = sentinels.front();
  vocabulary.end_sentinel = sentinels.back() + 1;
  if (vocabulary.end_sentinel - vocabulary.first_sentinel != static_cast<Index>(sentinels.size())) {
    throw_usage(
        "--vocab-extra-ids {}: the vocabulary has some of the sentinels already, apart "
        "from the others",
        sentinels.size());
  }
}

/// Microbatches of masked texts.
class MaskedLmSource final : public SampleSource {
 public:
  explicit MaskedLmSource(const SourceRequest& request)
      : length_(request.config.model.seq_length),
        loader_(request.dataset,
                {.length = length_, .decoder_length = request.config.model.decoder_seq_length},
                request.sampler, request.config.data.num_workers) {}

  std::optional<models::HostMicrobatch> next() override {
    const data::MaskedLmBatch* batch = loader_.next();
    return batch != nullptr ? std::optional(microbatch_of(*batch, length_)) : std::nullopt;
  }

 private:
  Index length_;
  data::MaskedLmLoader loader_;
};

}  // namespace

/// BERT marks parts by [CLS] and [SEP] and masks by [MASK]; T5 wants [BOS], [EOS] and a row of
/// sentinels. Pieces that begin with "##" continue a word, which is masked as a whole.
data::MaskedLmVocabulary masked_lm_vocabulary(const config::RunConfig& config,
                                              const tokenizers::Tokenizer& tokenizer) {
  const tokenizers::Tokenizer::SpecialIds special = tokenizer.special_ids();
  const bool t5 = config.model.family().encoder_decoder;
  const auto wanted = [&](const std::optional<TokenId>& id, const char* name, bool needed) {
    if (needed && !id) {
      throw_usage(
          "--tokenizer-type {}: has no token {}, which samples of {} need; take "
          "BertWordPieceLowerCase or BertWordPieceCase with --vocab-file",
          tokenizer.name(), name, t5 ? "T5" : "BERT");
    }
    return static_cast<std::int64_t>(id.value_or(-1));
  };
  data::MaskedLmVocabulary vocabulary{.pad = wanted(special.pad, "[PAD]", true),
                                      .cls = wanted(special.cls, "[CLS]", !t5),
                                      .sep = wanted(special.sep, "[SEP]", !t5),
                                      .mask = wanted(special.mask, "[MASK]", !t5),
                                      .bos = wanted(special.bos, "[BOS]", t5),
                                      .eos = wanted(special.eos, "[EOS]", t5),
                                      .size = tokenizer.vocab_size(),
                                      .continues = {}};
  if (!t5 && vocabulary.pad != 0) {
    throw_usage(
        "--vocab-file: [PAD] is token {}; BERT's samples are padded with zeros, so that it must be "
        "the first of the vocabulary",
        vocabulary.pad);
  }
  for (TokenId id = 0; id < vocabulary.size; ++id) {
    vocabulary.continues.push_back(tokenizer.decode({&id, 1}).starts_with("##"));
  }
  if (t5) {
    set_sentinels(special.sentinels, vocabulary);
  }
  return vocabulary;
}

/// The longest masked n-grams are the reference's: 3 for BERT, 10 with a geometric distribution for
/// T5.
std::optional<data::MaskedLmRequest> masked_lm_request(const config::RunConfig& config,
                                                       const tokenizers::Tokenizer& tokenizer) {
  const config::ModelConfig& model = config.model;
  if (!model.family().padded()) {
    return std::nullopt;
  }
  if (config.data.mock_data) {
    throw_usage("--mock-data: samples of BERT and T5 are made of sentences; give --data-path");
  }
  const bool t5 = model.family().encoder_decoder;
  data::MaskedLmRequest request{
      .description = {.masking_probability = config.data.mask_prob,
                      .short_sequence_probability = config.data.short_seq_prob,
                      .masking_max_ngram = t5 ? 10 : 3,
                      .geometric = t5},
      .vocabulary = masked_lm_vocabulary(config, tokenizer)};
  if (t5) {
    request.description.decoder_seq_length = model.decoder_seq_length;
  } else {
    request.description.classification_head = model.bert_binary_head;
  }
  return request;
}

/// Columns that samples of this kind lack are empty.
models::HostMicrobatch microbatch_of(const data::MaskedLmBatch& batch, Index length) {
  using enum data::MaskedLmColumn;
  return {.samples = batch.rows,
          .sequence_length = length,
          .columns = {{models::kTokens, batch[tokens]},
                      {models::kLabels, batch[labels]},
                      {models::kLossMask, batch.loss_mask},
                      {models::kPaddingMask, batch[padding_mask]},
                      {models::kTokenTypes, batch[token_types]},
                      {models::kSentenceOrder, batch[sentence_order]},
                      {models::kDecoderTokens, batch[decoder_tokens]},
                      {models::kDecoderPaddingMask, batch[decoder_padding_mask]}}};
}

std::unique_ptr<SampleSource> masked_lm_source(const SourceRequest& request) {
  return std::make_unique<MaskedLmSource>(request);
}

}  // namespace mpitron::train
