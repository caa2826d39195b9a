#pragma once
#include <span>
#include <string_view>

#include "tokenizers/word_cache.h"

namespace mpitron::tokenizers {

/// Appends the ids of `word`: remembered ones where the word is short and known, else those that
/// `compute(word, ids)` appends. `readable`: 16 bytes may be read from the word's start.
template <class Compute>
void append_cached(WordCache& cache, std::string_view word, bool readable, TokenIds& ids,
                   Compute&& compute) {
  if (word.empty() || word.size() > WordCache::kMaxBytes) {
    compute(word, ids);
    return;
  }
  const WordKey key = WordCache::key_of(word, readable);
  if (const WordCache::Entry* known = cache.find(key); known != nullptr) [[likely]] {
    const TokenId* first = cache.ids_of(*known);
    ids.insert(ids.end(), first, first + known->count);
    return;
  }
  const auto before = static_cast<std::ptrdiff_t>(ids.size());
  compute(word, ids);
  cache.insert(key, {ids.begin() + before, ids.end()});
}

}  // namespace mpitron::tokenizers
