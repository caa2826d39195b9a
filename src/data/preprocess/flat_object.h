#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::data {

/// Reads JSON objects whose members are all strings in one pass, which is most of what corpora
/// hold; anything else is left to a whole JSON parser.
class FlatObject {
 public:
  /// Bytes behind an object that must be readable; their content does not matter.
  static constexpr std::size_t kPadding = 16;

  /// Returns true where `json` is such an object, is valid, and has each of the keys (all keys
  /// printable ASCII without escapes); then texts()[k] is the last value of keys[k]. False says
  /// nothing about `json`.
  bool parse(std::string_view json, std::span<const std::string> keys);

  /// Returns the texts, [keys]; they live until the next call.
  std::span<const std::string_view> texts() const { return texts_; }

 private:
  bool parse_members(std::span<const std::string> keys);
  bool parse_key(std::string_view& key);
  bool parse_string(std::string_view& text);
  void copy_plain();
  bool parse_escape();
  bool parse_unicode_escape();
  bool take(char expected);
  bool ended();

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  char* out_ = nullptr;
  bool ascii_ = true;    // all bytes of strings, so far
  std::string storage_;  // grows only
  std::vector<std::string_view> texts_;
};

}  // namespace mpitron::data
