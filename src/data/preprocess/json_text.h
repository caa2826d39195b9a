#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpitron::data {

/// Reads the text fields of JSON objects, one parser per thread. The only place that knows the JSON
/// library.
class JsonTextParser {
 public:
  /// Bytes behind a document that must be readable; their content does not matter.
  static constexpr std::size_t kPadding = 64;

  JsonTextParser();
  ~JsonTextParser();
  JsonTextParser(JsonTextParser&&) noexcept;
  JsonTextParser& operator=(JsonTextParser&&) noexcept;

  /// Parses one object and finds for each key its text, or its texts where the value is a list of
  /// strings. The last of several equal keys counts, as in Python. The views live until the next
  /// call. Error(data) without file and line for invalid JSON or UTF-8, a missing key, a value that
  /// is no text.
  std::span<const std::vector<std::string_view>> parse(std::string_view json,
                                                       std::span<const std::string> keys);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the integers of {"ids": [...]}, as `mpitron tokenize decode` reads them. Error(data) for
/// anything else.
std::vector<std::int32_t> parse_id_list(std::string_view json, std::string_view key);

/// Returns `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string quote_json(std::string_view text);

}  // namespace mpitron::data
