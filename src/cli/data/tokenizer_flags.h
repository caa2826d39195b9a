#pragma once
#include <algorithm>
#include <thread>

#include "cli/flags.h"
#include "tokenizers/core/tokenizer.h"
#include "tokenizers/make_tokenizer.h"
#include "utils/error.h"

namespace mpitron::cli {

/// Megatron's options that choose a tokenizer.
inline void add_tokenizer_options(Flags& flags, tokenizers::TokenizerOptions& options) {
  flags.option("--tokenizer-type", options.type, tokenizers::tokenizer_types());
  flags.option("--tokenizer-model", options.tokenizer_model,
               "SentencePiece: the .model file; Hugging Face: tokenizer.json or its folder; "
               "TikTokenizer: .json list of ranks or .tiktoken file");
  flags.option("--vocab-file", options.vocab_file, "GPT-2 BPE: vocab.json; BERT: vocab.txt");
  flags.option("--merge-file", options.merge_file, "GPT-2 BPE: merges.txt");
  flags.option("--vocab-extra-ids", options.vocab_extra_ids,
               "BERT and SentencePieceTokenizer: number of <extra_id_i> tokens to add");
  flags.option("--vocab-size", options.vocab_size,
               "NullTokenizer: number of ids without eod; TikTokenizer: of all ids (131072)");
  flags.option("--tiktoken-pattern", options.tiktoken_pattern,
               "v1, v2 (special tokens first), gpt2, cl100k, o200k, llama3 (special tokens last)");
  flags.option("--tiktoken-num-special-tokens", options.tiktoken_num_special_tokens,
               "ids set aside for special tokens by v1 and v2");
  flags.option("--tiktoken-special-tokens", options.tiktoken_special_tokens,
               "names of the first special tokens of v1 and v2 (<unk> <s> </s>)");
  flags.option("--sft-tokenizer-prompt-format", options.sft_tokenizer_prompt_format,
               "SFTTokenizer: how conversations become text");
}

/// `--workers` of the tools that work on corpora: all cores unless it is given.
class WorkerFlag {
 public:
  void add(Flags& flags) {
    flags.option("--workers", workers_, "threads; the output does not depend on them");
  }
  /// After parsing. Error(usage) outside 1 to 1024.
  int value() const {
    constexpr Index kMaxWorkers = 1024;
    if (workers_ < 1 || workers_ > kMaxWorkers) {
      throw_usage("--workers {}: allowed are 1 to {}", workers_, kMaxWorkers);
    }
    return static_cast<int>(workers_);
  }

 private:
  Index workers_ = std::max(1U, std::thread::hardware_concurrency());
};

}  // namespace mpitron::cli
