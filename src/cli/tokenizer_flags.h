#pragma once
#include "cli/flags.h"
#include "tokenizers/tokenizer.h"

namespace mpitron::cli {

/// Megatron's options that choose a tokenizer.
inline void add_tokenizer_options(Flags& flags, tokenizers::TokenizerOptions& options) {
  flags.option("--tokenizer-type", options.type, "GPT2BPETokenizer or NullTokenizer");
  flags.option("--vocab-file", options.vocab_file, "GPT-2 BPE: vocab.json");
  flags.option("--merge-file", options.merge_file, "GPT-2 BPE: merges.txt");
  flags.option("--vocab-size", options.vocab_size, "NullTokenizer: number of ids without eod");
}

}  // namespace mpitron::cli
