#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "tokenizers/text/json_view.h"
#include "utils/error.h"
#include "utils/text/json_nesting.h"

// Parsing of tokenizers' JSON files. Numbers are read as Hugging Face's parser reads them, because
// scores must agree to the last bit.

namespace mpitron::tokenizers {
namespace {

using Json = nlohmann::json;

/// Reads a number as serde_json does (the parser of Hugging Face's library): all digits as one
/// integer, rounded, divided by a power of ten, rounded again. The last bit of a score decides
/// between paths of equal sums.
double rust_number(const std::string& text) {
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  std::uint64_t digits = 0;
  constexpr long kFarOut = 1'000'000;  // 0 or infinite, and far from where an int ends
  const long given =
      exponent_at < text.size() ? std::strtol(text.c_str() + exponent_at + 1, nullptr, 10) : 0;
  auto exponent = static_cast<int>(std::clamp(given, -kFarOut, kFarOut));
  bool behind_point = false;
  bool full = false;
  for (const char c : std::string_view(text).substr(0, exponent_at)) {
    if (c < '0' || c > '9') {
      behind_point |= c == '.';
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(c - '0');
    constexpr std::uint64_t kLargest = ~std::uint64_t{0};
    full |= digits > (kLargest - digit) / 10;
    if (full) {
      exponent += behind_point ? 0 : 1;
      continue;
    }
    digits = digits * 10 + digit;
    exponent -= behind_point ? 1 : 0;
  }
  const auto whole = static_cast<double>(digits);
  constexpr int kExactly = 308;
  if (std::abs(exponent) > kExactly) {
    return std::strtod(text.c_str(), nullptr);
  }
  const double power = std::strtod(fmt::format("1e{}", std::abs(exponent)).c_str(), nullptr);
  const double value = exponent < 0 ? whole / power : whole * power;
  return text.front() == '-' ? -value : value;
}

/// Builds the document as the library does, but for real numbers.
class Builder : public nlohmann::detail::json_sax_dom_parser<nlohmann::json> {
 public:
  using json_sax_dom_parser::json_sax_dom_parser;
  bool number_float(double /*value*/, const std::string& text) {
    return json_sax_dom_parser::number_float(rust_number(text), text);
  }
};

}  // namespace

struct JsonDocument::Value {
  Json root;
};

/// Depth is checked before parsing: the library recurses when it destroys a document.
JsonDocument::JsonDocument(std::string_view text) {
  constexpr bool kExceptions = false;
  auto value = std::make_unique<Value>();
  Builder builder(value->root, kExceptions);
  if (nests_too_deep(text) || !Json::sax_parse(text.begin(), text.end(), &builder)) {
    throw_data("it is not valid JSON");
  }
  value_ = std::move(value);
}

JsonDocument::~JsonDocument() = default;

JsonView JsonDocument::root() const {
  return {&value_->root, ""};
}

}  // namespace mpitron::tokenizers
