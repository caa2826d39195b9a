#include "tokenizers/word_piece/bert_tokenizer.h"

#include "tokenizers/core/word_cache.h"
#include "tokenizers/text/unicode_text.h"
#include "tokenizers/word_piece/bert_words.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/hash.h"
#include "utils/text/utf8.h"

// BERT's tokenizers as Megatron has them: words by BertWords, pieces by WordPiece through a cache
// of short words, and tokens that Megatron adds behind the vocabulary.

namespace mpitron::tokenizers {
namespace {

/// Returns a line without the white space around it, as Python's str.strip sees it.
std::string_view strip_line(std::string_view line) {
  const auto blank = [](std::uint32_t c) { return is_white_space(c) || (c >= 0x1C && c <= 0x1F); };
  while (!line.empty() && decode_utf8(line).bytes > 0 && blank(decode_utf8(line).code_point)) {
    line.remove_prefix(static_cast<std::size_t>(decode_utf8(line).bytes));
  }
  while (!line.empty() && blank(decode_utf8(last_character(line)).code_point)) {
    line.remove_suffix(last_character(line).size());
  }
  return line;
}

/// Reads one token a line; the line's number is the id.
std::vector<std::string> read_vocabulary(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) {
    throw_data("--vocab-file {}: no such file", file.string());
  }
  const std::string text = read_file(file);
  std::vector<std::string> tokens;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    if (replace_invalid_utf8(line) != line) {
      throw_data("--vocab-file {}:{}: the line is not valid UTF-8", file.string(),
                 tokens.size() + 1);
    }
    tokens.emplace_back(strip_line(line));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return tokens;
}

}  // namespace

BertTokenizer::BertTokenizer(const std::filesystem::path& vocab_file, const Options& options)
    : vocab_file_(vocab_file), options_(options), tokens_(read_vocabulary(vocab_file)) {
  std::string content = options.lower_case ? "lower" : "case";
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    if (!ids_.emplace(tokens_[id], static_cast<TokenId>(id)).second) {
      throw_data("--vocab-file {}:{}: token \"{}\" appears twice", vocab_file.string(), id + 1,
                 tokens_[id]);
    }
    content += fmt::format("{}:{}", tokens_[id].size(), tokens_[id]);
  }
  fingerprint_ = hash128_hex(content + fmt::format(" {}", options.extra_ids));
  pieces_ = std::make_unique<WordPiece>(tokens_, WordPiece::Options{.unknown = find("[UNK]")});
  special_ = {.bos = add("[BOS]"),
              .eos = add("[EOS]"),
              .pad = find("[PAD]"),
              .cls = find("[CLS]"),
              .sep = find("[SEP]"),
              .mask = find("[MASK]"),
              .sentinels = {}};
  for (Index i = 0; i < options.extra_ids; ++i) {
    special_.sentinels.push_back(add(fmt::format("<extra_id_{}>", i)));
  }
}

TokenId BertTokenizer::find(std::string_view token) const {
  const auto found = ids_.find(std::string(token));
  if (found == ids_.end()) {
    throw_data(
        "--vocab-file {}: has no token \"{}\"; --tokenizer-type {} needs a WordPiece vocabulary "
        "with [UNK], [CLS], [SEP], [PAD] and [MASK], one token a line",
        vocab_file_.string(), token, name());
  }
  return found->second;
}

/// Adds the token behind the vocabulary unless it is there.
TokenId BertTokenizer::add(const std::string& token) {
  const auto [found, added] = ids_.emplace(token, static_cast<TokenId>(tokens_.size()));
  if (added) {
    tokens_.push_back(token);
  }
  return found->second;
}

std::string_view BertTokenizer::name() const {
  return options_.lower_case ? "BertWordPieceLowerCase" : "BertWordPieceCase";
}

TokenizerIdentity BertTokenizer::identity() const {
  return {"_BertWordPieceTokenizer",
          {vocab_file_.string()},
          {{"lower_case", options_.lower_case ? "True" : "False"},
           {"vocab_extra_ids", std::to_string(options_.extra_ids)}}};
}

std::unique_ptr<Tokenizer::Cache> BertTokenizer::make_cache() const {
  return std::make_unique<WordCache>();
}

void BertTokenizer::encode(std::string_view text, Cache& cache, TokenIds& ids) const {
  auto& words = static_cast<WordCache&>(cache);
  BertWords(options_.lower_case).split(text, [&](std::string_view word) {
    append_cached(words, word, false, ids,
                  [&](std::string_view missed, TokenIds& out) { pieces_->encode(missed, out); });
  });
}

std::string BertTokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) {
    check_token_id(id, vocab_size());
    text += (text.empty() ? "" : " ") + tokens_[static_cast<std::size_t>(id)];
  }
  replace_all(text, " ##", "");
  text = strip_line(text);
  clean_up_spaces(text);
  return text;
}

}  // namespace mpitron::tokenizers
