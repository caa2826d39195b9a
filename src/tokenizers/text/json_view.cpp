#include "tokenizers/text/json_view.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/text/json_nesting.h"

// JSON files of tokenizers, with paths for messages. Numbers are read as Hugging Face's parser
// reads them, because scores must agree to the last bit.

namespace mpitron::tokenizers {

namespace {

using Json = nlohmann::json;

const Json& json_of(const void* value) {
  return *static_cast<const Json*>(value);
}

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

/// The value of members that are absent.
const Json& null_value() {
  static const Json null;
  return null;
}

}  // namespace

bool JsonView::is_null() const {
  return json_of(value_).is_null();
}
bool JsonView::is_text() const {
  return json_of(value_).is_string();
}
bool JsonView::is_object() const {
  return json_of(value_).is_object();
}
bool JsonView::is_array() const {
  return json_of(value_).is_array();
}

/// Throws Error(data) with path, value (shortened) and reason.
void JsonView::refuse(std::string_view why) const {
  std::string value = json_of(value_).dump(-1, ' ', true, Json::error_handler_t::replace);
  if (value.size() > 80) {
    value = value.substr(0, 77) + "...";
  }
  throw_data("{} is {}: {}", path_, value, why);
}

bool JsonView::has(const char* key) const {
  return !get(key).is_null();
}

/// Returns a view of null where the key is absent.
JsonView JsonView::get(const char* key) const {
  if (!json_of(value_).is_object()) {
    refuse("an object is expected");
  }
  const Json& object = json_of(value_);
  const auto found = object.find(key);
  return {found == object.end() ? &null_value() : &*found, path_.empty() ? key : path_ + '.' + key};
}

JsonView JsonView::at(const char* key) const {
  JsonView member = get(key);
  if (member.is_null()) {
    throw_data("{} is missing", member.path_);
  }
  return member;
}

JsonView JsonView::at(Index i) const {
  if (i >= size()) {
    refuse("it has too few elements");
  }
  return {&json_of(value_)[static_cast<std::size_t>(i)], fmt::format("{}[{}]", path_, i)};
}

Index JsonView::size() const {
  if (!json_of(value_).is_array()) {
    refuse("an array is expected");
  }
  return static_cast<Index>(json_of(value_).size());
}

std::string JsonView::text() const {
  if (!json_of(value_).is_string()) {
    refuse("a string is expected");
  }
  return json_of(value_).get<std::string>();
}

double JsonView::number() const {
  if (!json_of(value_).is_number()) {
    refuse("a number is expected");
  }
  return json_of(value_).get<double>();
}

Index JsonView::integer() const {
  if (!json_of(value_).is_number_integer()) {
    refuse("an integer is expected");
  }
  if (json_of(value_).is_number_unsigned() &&
      json_of(value_).get<std::uint64_t>() > std::uint64_t{std::numeric_limits<Index>::max()}) {
    refuse("an integer of at most 63 bits is expected");
  }
  return json_of(value_).get<Index>();
}

bool JsonView::boolean() const {
  if (!json_of(value_).is_boolean()) {
    refuse("true or false is expected");
  }
  return json_of(value_).get<bool>();
}

std::string JsonView::text(const char* key, std::string_view otherwise) const {
  return has(key) ? get(key).text() : std::string(otherwise);
}

bool JsonView::boolean(const char* key, bool otherwise) const {
  return has(key) ? get(key).boolean() : otherwise;
}

void JsonView::for_elements(const std::function<void(const JsonView&)>& handle) const {
  for (Index i = 0; i < size(); ++i) {
    handle(at(i));
  }
}

void JsonView::for_members(
    const std::function<void(const std::string&, const JsonView&)>& handle) const {
  if (!json_of(value_).is_object()) {
    refuse("an object is expected");
  }
  for (const auto& [key, value] : json_of(value_).items()) {
    handle(key, {&value, path_.empty() ? key : path_ + '.' + key});
  }
}

/// Returns the place of the text among `names`, which the error lists.
Index JsonView::choose(const char* key, std::initializer_list<std::string_view> names,
                       Index otherwise) const {
  if (!has(key)) {
    return otherwise;
  }
  const std::string given = get(key).text();
  std::string allowed;
  Index index = 0;
  for (const std::string_view name : names) {
    if (name == given) {
      return index;
    }
    ++index;
    allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  }
  get(key).refuse("supported are " + allowed);
}

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
