#include "tokenizers/make_tokenizer.h"

#include "tokenizers/bpe/byte_pair_encoding.h"
#include "tokenizers/bpe/tik_tokenizer.h"
#include "tokenizers/chat/sft_tokenizer.h"
#include "tokenizers/core/null_tokenizer.h"
#include "tokenizers/hugging_face/huggingface_tokenizer.h"
#include "tokenizers/sentencepiece/sentencepiece_tokenizer.h"
#include "tokenizers/word_piece/bert_tokenizer.h"
#include "utils/error.h"

// The choice of --tokenizer-type: a row for each, which checks that its options are given and makes
// the tokenizer.

namespace mpitron::tokenizers {
namespace {

using Made = std::unique_ptr<Tokenizer>;
using Options = TokenizerOptions;
using Kind = SentencePieceTokenizer::Kind;

/// Returns the value; Error(usage) names type and option where it is missing.
const std::string& need(const Options& options, const std::string& value, const char* option) {
  if (value.empty()) {
    throw_usage("--tokenizer-type {} needs {} FILE; {} is missing", options.type, option, option);
  }
  return value;
}

template <bool lower>
Made make_bert(const Options& o) {
  return std::make_unique<BertTokenizer>(
      need(o, o.vocab_file, "--vocab-file"),
      BertTokenizer::Options{.lower_case = lower, .extra_ids = o.vocab_extra_ids});
}

template <Kind kind>
Made make_sentencepiece(const Options& o) {
  return std::make_unique<SentencePieceTokenizer>(need(o, o.tokenizer_model, "--tokenizer-model"),
                                                  kind,
                                                  kind == Kind::plain ? o.vocab_extra_ids : 0);
}

Made make_hugging_face(const Options& o) {
  return std::make_unique<HuggingFaceTokenizer>(need(o, o.tokenizer_model, "--tokenizer-model"));
}

Made make_sft(const Options& o) {
  return std::make_unique<SftTokenizer>(need(o, o.tokenizer_model, "--tokenizer-model"),
                                        o.sft_tokenizer_prompt_format);
}

struct Type {
  std::string_view name;  // the value of --tokenizer-type
  Made (*make)(const Options&);
};

/// Types in the order in which messages list them; a new one is a row.
constexpr Type kTypes[] = {
    {"GPT2BPETokenizer", make_gpt2_tokenizer},
    {"NullTokenizer", make_null_tokenizer},
    {"BertWordPieceLowerCase", make_bert<true>},
    {"BertWordPieceCase", make_bert<false>},
    {"SentencePieceTokenizer", make_sentencepiece<Kind::plain>},
    {"GPTSentencePieceTokenizer", make_sentencepiece<Kind::gpt>},
    {"Llama2Tokenizer", make_sentencepiece<Kind::llama2>},
    {"HuggingFaceTokenizer", make_hugging_face},
    {"SFTTokenizer", make_sft},
    {"TikTokenizer", make_tik_tokenizer},
};

}  // namespace

std::string tokenizer_types() {
  std::string types;
  for (const Type& type : kTypes) {
    types += fmt::format("{}{}", types.empty() ? "" : ", ", type.name);
  }
  return types;
}

std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options) {
  for (const Type& type : kTypes) {
    if (options.type == type.name) {
      return type.make(options);
    }
  }
  throw_usage("--tokenizer-type {}: allowed are {}", options.type, tokenizer_types());
}

}  // namespace mpitron::tokenizers
