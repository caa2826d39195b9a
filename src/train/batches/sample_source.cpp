#include "train/batches/sample_source.h"

#include <algorithm>
#include <array>

#include "data/loading/batch_loader.h"
#include "train/batches/extra_columns.h"
#include "train/batches/training_data.h"
#include "utils/error.h"

// The table of sample kinds: how each opens its data sets and makes its microbatches. A new kind is
// a row here.

namespace mpitron::train {
namespace {

using config::SampleKind;

/// A set of less than one sample would go by in silence.
void check_whole_sets(const std::vector<std::shared_ptr<const data::Dataset>>& sets,
                      Index seq_length) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i] && sets[i]->size() == 0) {
      throw_usage(
          "--full-validation: validation set {} has fewer than the {} tokens of one sample (and "
          "one more); leave it out of --valid-data-path, or take a shorter --seq-length",
          i, seq_length);
    }
  }
}

/// Opens the sets of .bin and .idx files, or of conversations.
data::GptData corpus_sets(const config::RunConfig& config, const tokenizers::Tokenizer& tokenizer) {
  data::GptData sets = data::make_gpt_data(make_data_request(config, tokenizer));
  if (config.training.full_validation) {
    check_whole_sets(sets.valid, config.training.seq_length);
  }
  return sets;
}

class TextSource final : public SampleSource {
 public:
  explicit TextSource(const SourceRequest& request)
      : extra_(request.data),
        loader_(request.dataset, {.sample = sample_options(request.config, *request.data.tokenizer),
                                  .sampler = request.sampler,
                                  .prefetch = request.config.data.num_workers}) {}

  std::optional<models::HostMicrobatch> next() override {
    const data::Batch* batch = loader_.next();
    if (batch == nullptr) {
      return std::nullopt;
    }
    models::HostMicrobatch microbatch{.samples = batch->rows,
                                      .sequence_length = batch->seq_length,
                                      .columns = {{models::kTokens, batch->tokens},
                                                  {models::kLabels, batch->labels},
                                                  {models::kPositionIds, batch->position_ids},
                                                  {models::kLossMask, batch->loss_mask},
                                                  {models::kAttentionMask, batch->attention_mask}}};
    extra_.add(*batch, microbatch.columns);
    return microbatch;
  }

 private:
  ExtraColumns extra_;
  data::BatchLoader loader_;
};

std::unique_ptr<SampleSource> text_source(const SourceRequest& request) {
  return std::make_unique<TextSource>(request);
}

constexpr auto kRows = std::to_array<SampleRow>({
    {SampleKind::texts, corpus_sets, text_source},
    {SampleKind::sentence_pairs, corpus_sets, masked_lm_source},
    {SampleKind::masked_spans, corpus_sets, masked_lm_source},
    {SampleKind::images, image_sets, image_source},
    {SampleKind::image_texts, image_text_sets, image_text_source},
    {SampleKind::labelled_texts, labelled_sets, labelled_source},
});

}  // namespace

const SampleRow& row_of(SampleKind kind) {
  const auto row = std::ranges::find(kRows, kind, &SampleRow::kind);
  MPITRON_CHECK(row != kRows.end(), static_cast<int>(kind));
  return *row;
}

}  // namespace mpitron::train
