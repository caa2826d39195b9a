#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::tokenizers {

/// SentencePiece's compiled rules of normalisation: a double array in the format of darts-clone
/// whose values are offsets into zero-terminated replacements. Every index is checked, so any bytes
/// may be read.
class CharsMap {
 public:
  /// A rule that applies: the bytes of the text that it replaces, and by what.
  struct Match {
    std::size_t bytes = 0;
    std::string_view replacement;
  };

  CharsMap() = default;
  /// Reads the bytes of a model file; empty ones hold no rules. Error(data) where the sizes do not
  /// fit.
  explicit CharsMap(std::string_view blob);

  bool empty() const { return units_.empty(); }
  /// Return the rule with the longest (or shortest) left side that `text` starts with.
  std::optional<Match> longest(std::string_view text) const { return find(text, false); }
  std::optional<Match> shortest(std::string_view text) const { return find(text, true); }
  /// Returns whether a rule starts with the ASCII character `first` and is one or two ASCII
  /// characters long or longer with a second ASCII character.
  bool concerns_ascii(char first) const;

 private:
  std::optional<Match> find(std::string_view text, bool first_only) const;
  std::optional<std::uint32_t> step(std::uint32_t& node, char byte) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace mpitron::tokenizers
