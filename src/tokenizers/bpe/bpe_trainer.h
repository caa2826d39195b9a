#pragma once
#include <functional>

#include "tokenizers/bpe/bpe_model.h"
#include "tokenizers/split/word_counts.h"

namespace mpitron::tokenizers {

/// Throws Error(usage) for a vocabulary below 257 tokens or above PairRanks::kMaxTokens.
void check_bpe_size(Index vocab_size);

/// Trains a byte-level BPE vocabulary of `vocab_size` tokens: the 256 bytes in GPT-2's order, one
/// token for each merge (merges with the same bytes share one), `<|endoftext|>` last. Each step
/// merges the most frequent pair of neighbours; of equally frequent ones that with the smaller left
/// id, then the smaller right id. Stops early when no pair occurs twice. `on_merge(done, all)` is
/// called after every merge with the number of new tokens. Error(usage) as check_bpe_size. Source:
/// Sennrich et al. 2016, with pair counts kept up to date word by word.
BpeModel train_bpe(const WordCounts& counts, Index vocab_size,
                   const std::function<void(Index done, Index all)>& on_merge = {});

}  // namespace mpitron::tokenizers
