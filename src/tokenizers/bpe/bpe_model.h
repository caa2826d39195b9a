#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizers/core/tokenizer.h"
#include "tokenizers/split/pre_tokenizer.h"

namespace mpitron::tokenizers {

inline constexpr std::string_view kEndOfText = "<|endoftext|>";

/// A byte-level BPE vocabulary as its two files hold it.
struct BpeModel {
  /// Two neighbours and what they become; its place in the list is its rank.
  struct Merge {
    TokenId left;
    TokenId right;
    TokenId result;
  };
  std::vector<std::string> tokens;  // [v] bytes of every id (text of the special one)
  std::vector<TokenId> byte_ids;    // [256] id of every single byte
  std::vector<Merge> merges;        // by rank: the first is applied first
  TokenId eod = 0;
  std::string pattern{kGpt2Pattern};  // splits text into the pieces that are merged
  /// Tokens that no merges make: only a piece that is one of them as a whole becomes it.
  std::vector<TokenId> whole_pieces;
};

/// Reads vocab.json and merges.txt. Error(data), naming file and line, where one of them is not
/// what it should be or where the two do not belong together.
BpeModel load_bpe_model(const std::filesystem::path& vocab_file,
                        const std::filesystem::path& merge_file);

/// Writes both files as GPT-2, Megatron and Hugging Face read them. Error(data) when a write fails.
void save_bpe_model(const BpeModel& model, const std::filesystem::path& vocab_file,
                    const std::filesystem::path& merge_file);

/// All members of one JSON object of integers, in the file's order. Error(data) for anything else.
std::vector<std::pair<std::string, std::int64_t>> parse_integer_object(std::string_view json);

}  // namespace mpitron::tokenizers
