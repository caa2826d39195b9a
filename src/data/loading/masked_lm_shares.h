#pragma once
#include <vector>

#include "data/loading/gpt_data.h"

namespace mpitron::data {

/// Inputs of a run of BERT or T5: that of GPT, and how samples are made of sentences.
struct MaskedLmShareRequest {
  GptDataRequest data;
  MaskedLmDescription masking;
  Index special_tokens = 3;  // of each sample: BERT 3, T5 2
  Index min_sentences = 1;   // of each sample: BERT with the binary head 2
};

/// Returns what a split takes from each of its corpora; builds the indices (or loads them). Empty
/// where the split asks for no samples. Error(usage) where the number of samples is open
/// (--full-validation).
std::vector<SourceShare> masked_lm_shares(const MaskedLmShareRequest& request, Split split);

}  // namespace mpitron::data
