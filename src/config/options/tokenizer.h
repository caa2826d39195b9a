#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

inline constexpr std::array kTokenizer = {
    integer("vocab-size", none, works, "vocabulary before padding; the null tokenizer needs it"),
    integer("padded-vocab-size", none, works, "vocabulary after padding, instead of computing it"),
    text("vocab-file", none, works, "vocabulary of the tokenizer"),
    text("merge-file", none, works, "merge rules of byte-level BPE"),
    integer("vocab-extra-ids", "0", works, "sentinel tokens to add for T5"),
    text("tokenizer-type", none, works, "kind of tokenizer")
        .choose("BertWordPieceLowerCase BertWordPieceCase GPT2BPETokenizer SentencePieceTokenizer "
                "GPTSentencePieceTokenizer HuggingFaceTokenizer Llama2Tokenizer TikTokenizer "
                "MultimodalTokenizer NullTokenizer NullMultimodalTokenizer SFTTokenizer")
        .works_with("BertWordPieceLowerCase BertWordPieceCase GPT2BPETokenizer "
                    "SentencePieceTokenizer GPTSentencePieceTokenizer HuggingFaceTokenizer "
                    "Llama2Tokenizer NullTokenizer SFTTokenizer TikTokenizer"),
    text("tokenizer-model", none, works, "file (Hugging Face: or folder) of the tokenizer model"),
    text("tiktoken-pattern", none, works, "splitting pattern: v1, v2, gpt2, cl100k, o200k, llama3"),
    integer("tiktoken-num-special-tokens", "1000", works, "ids set aside for special tokens"),
    text("tiktoken-special-tokens", none, works, "names of the special tokens").list(),
};

}  // namespace mpitron::config::rows
