#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/gpt/dataset.h"
#include "data/gpt/fim_dataset.h"
#include "data/gpt/gpt_sample.h"
#include "data/gpt/sft_dataset.h"
#include "data/index/blend.h"
#include "data/index/description.h"
#include "data/index/split.h"
#include "data/masked_lm/masked_lm_dataset.h"

namespace mpitron::data {

/// Contents of a sample of files of conversations: one of them, several that fit, or a pair of
/// answers (whose weights may be divided by their lengths).
enum class ConversationSamples { one, packed, pairs, pairs_by_length };

/// Everything that decides which samples a run sees, of GPT or of BERT and T5. Exactly one of
/// `blend` (with `split`), `per_split` and `mock`.
struct GptDataRequest {
  Blend blend;  // --data-path, --split
  std::string split = "969, 30, 1";
  PerSplit<Blend> per_split;  // --train-data-path, --valid-data-path, --test-data-path
  bool mock = false;          // --mock-data
  PerSplit<std::optional<Index>> num_samples;  // nothing: one epoch (--full-validation)
  Index seed = 1234;
  GptSampleOptions sample;                  // sequence length, eod, pad, ...
  tokenizers::TokenizerIdentity tokenizer;  // only for the names of cached indices
  Index vocab_size = 0;  // > 0: tokens outside are refused, and mock data have none
  std::optional<std::string> cache_path;  // --data-cache-path; else beside each corpus
  bool mmap_bin_files = true;
  double surplus = 0.005;  // --mid-level-dataset-surplus
  bool drop_last_partial_validation = true;
  bool multiple_validation_sets = false;
  Index builder_threads = 1;                                // --num-dataset-builder-threads
  std::optional<MaskedLmRequest> masked_lm = std::nullopt;  // BERT, T5: corpora of sentences
  EncodeConversation encode = {};  // --sft: the prefixes are files of conversations
  ConversationSamples conversations = ConversationSamples::one;  // likewise
  std::optional<FimOptions> fim = std::nullopt;                  // --fim-data
  std::string tokenizer_hash = "";  // not empty: corpora that name another are refused
};

/// The data of a run. Null where a split has no data; `valid` has one entry, or one per corpus with
/// multiple validation sets.
struct GptData {
  std::shared_ptr<const Dataset> train;
  std::vector<std::shared_ptr<const Dataset>> valid;
  std::shared_ptr<const Dataset> test;
};

/// Opens the corpora and builds or loads their indices. A pure function of the request and the
/// corpora: with a shared cache, one rank calls first and the others after it; without, all may
/// call at once.
GptData make_gpt_data(const GptDataRequest& request);

}  // namespace mpitron::data
