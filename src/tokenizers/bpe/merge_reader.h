#pragma once
#include <unordered_map>
#include <unordered_set>

#include "tokenizers/bpe/bpe_model.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/utf8.h"

namespace mpitron::tokenizers {

/// Ids of tokens, which are still in the printable alphabet that stands for bytes.
using TokenIdsByText = std::unordered_map<std::string, TokenId>;

/// Reads merges.txt line by line: two tokens with a blank between them, whose concatenation is a
/// token, too. The first line may be "#version"; empty lines are passed over.
class MergeReader {
 public:
  MergeReader(const std::filesystem::path& merge_file, const std::filesystem::path& vocab_file,
              const TokenIdsByText& ids)
      : merge_file_(merge_file), vocab_file_(vocab_file), ids_(ids) {}

  std::vector<BpeModel::Merge> read() {
    const MappedFile file(merge_file_);
    std::string_view rest = file.text();
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      ++line_;
      if (line.ends_with('\r')) {
        line.remove_suffix(1);
      }
      if (!line.empty() && !(line_ == 1 && line.starts_with("#version"))) {
        merges_.push_back(parse(line));
      }
    }
    if (merges_.empty()) {
      throw_data("--merge-file {}: holds no merge", merge_file_.string());
    }
    return std::move(merges_);
  }

 private:
  TokenId find(const std::string& token) const {
    const auto found = ids_.find(token);
    if (found == ids_.end()) {
      throw_data(
          "--merge-file {}:{}: token \"{}\" is not in --vocab-file {}: the two files do not belong "
          "together",
          merge_file_.string(), line_, replace_invalid_utf8(token), vocab_file_.string());
    }
    return found->second;
  }

  BpeModel::Merge parse(std::string_view line) {
    const std::size_t space = line.find(' ');
    if (space == 0 || space >= line.size() - 1 ||
        line.find(' ', space + 1) != std::string_view::npos) {
      throw_data(
          "--merge-file {}:{}: two tokens with one space between them are expected, found "
          "\"{:.60}\"",
          merge_file_.string(), line_, replace_invalid_utf8(line));
    }
    const std::string left(line.substr(0, space));
    const std::string right(line.substr(space + 1));
    const BpeModel::Merge merge{find(left), find(right), find(left + right)};
    const auto key =
        static_cast<std::uint64_t>(merge.left) << 32 | static_cast<std::uint32_t>(merge.right);
    if (!seen_.insert(key).second) {
      throw_data("--merge-file {}:{}: the merge \"{}\" appears twice", merge_file_.string(), line_,
                 line);
    }
    return merge;
  }

  const std::filesystem::path& merge_file_;
  const std::filesystem::path& vocab_file_;
  const TokenIdsByText& ids_;
  std::vector<BpeModel::Merge> merges_;
  std::unordered_set<std::uint64_t> seen_;
  Index line_ = 0;
};

}  // namespace mpitron::tokenizers
