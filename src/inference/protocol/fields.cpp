#include "inference/protocol/fields.h"

#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// Reads a request's JSON by its rules. Errors name the field and what is allowed. The text is
// checked for depth before it is parsed, since a parser's stack is finite.

namespace mpitron::inference {
namespace {

constexpr int kDeepestField = 64;
constexpr Index kMostNames = 2048;  // of one object, which is searched in the order of its text

[[noreturn]] void refuse(const std::string& name, std::string_view allowed) {
  throw RequestError(400, fmt::format("{} must be {}", name, allowed), name);
}

/// What a rule allows, behind "must be".
std::string allowed_by(const FieldRule& rule) {
  const bool bounded = rule.least != rule.most;
  switch (rule.type) {
    case FieldType::integer:
      return bounded ? fmt::format("an integer from {:.0f} to {:.0f}", rule.least, rule.most)
                     : "an integer";
    case FieldType::texts:
      return bounded ? fmt::format("a string or a list of at most {:.0f} strings", rule.most)
                     : "a string or a list of strings";
    default:
      return bounded ? fmt::format("a number from {} to {}", rule.least, rule.most) : "a number";
  }
}

/// Checks depth and names of the raw text before a parser that recurses sees it, by counting
/// brackets and colons outside of strings. An object's names are searched one after the other, so
/// their number is limited as well.
void check_shape(std::string_view body) {
  int depth = 0;
  std::array<Index, kDeepestField + 1> names{};  // of the object that is open at each depth
  bool quoted = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (quoted) {
      i += c == '\\';
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (depth > kDeepestField) {
      throw RequestError(400, fmt::format("JSON is nested deeper than {}", kDeepestField));
    }
    Index& open = names[static_cast<std::size_t>(std::max(depth, 0))];
    open = c == '{' ? 0 : open + (c == ':');
    if (open > kMostNames) {
      throw RequestError(400, fmt::format("an object has more than {} names", kMostNames));
    }
  }
}

/// Reads a list of token ids; nothing where an element is not an integer of 31 bits.
std::optional<TokenIds> id_list(const nlohmann::ordered_json& value) {
  if (!value.is_array()) {
    return std::nullopt;
  }
  TokenIds ids;
  for (const auto& each : value) {
    if (!each.is_number_integer() || each.get<double>() < 0 || each.get<double>() > 0x7FFFFFFF) {
      return std::nullopt;
    }
    ids.push_back(each.get<TokenId>());
  }
  return ids;
}

}  // namespace

struct Fields::Value {
  nlohmann::ordered_json json;

  const nlohmann::ordered_json* find(const std::string& name) const {
    const auto found = json.find(name);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }
};

Fields::Fields(std::unique_ptr<Value> value) : value_(std::move(value)) {}
Fields::~Fields() = default;
Fields::Fields(Fields&&) noexcept = default;

Fields Fields::parse(std::string_view body, FieldRules rules) {
  check_shape(body);
  auto value = std::make_unique<Value>(Value{nlohmann::ordered_json::parse(body, nullptr, false)});
  if (!value->json.is_object()) {
    throw RequestError(400, value->json.is_discarded() ? "the body is not valid JSON"
                                                       : "the body is no JSON object");
  }
  Fields fields(std::move(value));
  for (const FieldRule& rule : rules) {
    fields.check(rule);
  }
  return fields;
}

void Fields::check(const FieldRule& rule) const {
  if (!has(rule.name)) {
    if (rule.required) {
      throw RequestError(400, fmt::format("{} is required", rule.name), rule.name);
    }
    return;
  }
  check_type(rule);
  if (rule.least == rule.most) {
    return;
  }
  const std::optional<double> value = bounded_value(rule);
  if (value && (*value < rule.least || *value > rule.most)) {
    refuse(rule.name, allowed_by(rule));
  }
}

/// Returns what a rule's bounds are compared with: the number itself, or how many texts there are.
/// The readers of other types check their own bounds.
std::optional<double> Fields::bounded_value(const FieldRule& rule) const {
  switch (rule.type) {
    case FieldType::integer:
    case FieldType::number:
    case FieldType::real:
      return number(rule.name, 0);
    case FieldType::texts:
      return static_cast<double>(texts(rule.name)->size());
    default:
      return std::nullopt;
  }
}

/// Refuses a value of the wrong type. Most types are checked by calling their reader; lists that
/// are expensive to build (ids, prompts, biases) are checked when they are read, once.
void Fields::check_type(const FieldRule& rule) const {
  switch (rule.type) {
    case FieldType::boolean:
      boolean(rule.name, false);
      return;
    case FieldType::integer:
      if (kind(rule.name) != Kind::integer) {
        refuse(rule.name, allowed_by(rule));
      }
      integer(rule.name, 0);
      return;
    case FieldType::number:
    case FieldType::real:
      if (kind(rule.name) != Kind::integer && kind(rule.name) != Kind::real) {
        refuse(rule.name, allowed_by(rule));
      }
      return;
    case FieldType::text:
      text(rule.name, "");
      return;
    case FieldType::texts:
      if (!texts(rule.name)) {
        refuse(rule.name, allowed_by(rule));
      }
      return;
    case FieldType::list:
      if (kind(rule.name) != Kind::list) {
        refuse(rule.name, "a list");
      }
      return;
    case FieldType::object:
      object(rule.name);
      return;
    case FieldType::ids:
    case FieldType::prompts:
    case FieldType::bias:
    case FieldType::any:
      return;
    case FieldType::absent:
      // False is what a client sends who does not want the missing feature, so it passes.
      if (kind(rule.name) != Kind::boolean || boolean(rule.name, false)) {
        throw RequestError(400, fmt::format("{} is not available", rule.name), rule.name);
      }
      return;
  }
}

Fields::Kind Fields::kind(const std::string& name) const {
  const auto found = value_->json.find(name);
  if (found == value_->json.end()) {
    return Kind::absent;
  }
  switch (found->type()) {
    case nlohmann::ordered_json::value_t::null:
      return Kind::null;
    case nlohmann::ordered_json::value_t::boolean:
      return Kind::boolean;
    case nlohmann::ordered_json::value_t::number_integer:
    case nlohmann::ordered_json::value_t::number_unsigned:
      return Kind::integer;
    case nlohmann::ordered_json::value_t::number_float:
      return Kind::real;
    case nlohmann::ordered_json::value_t::string:
      return Kind::text;
    case nlohmann::ordered_json::value_t::array:
      return Kind::list;
    default:
      return Kind::object;
  }
}

bool Fields::boolean(const std::string& name, bool fallback) const {
  const nlohmann::ordered_json* value = value_->find(name);
  if (value != nullptr && !value->is_boolean()) {
    refuse(name, "true or false");
  }
  return value == nullptr ? fallback : value->get<bool>();
}

std::int64_t Fields::integer(const std::string& name, std::int64_t fallback) const {
  const nlohmann::ordered_json* value = value_->find(name);
  if (value == nullptr) {
    return fallback;
  }
  if (!value->is_number_integer() ||
      (value->is_number_unsigned() &&
       value->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))) {
    refuse(name, "an integer of 64 bits");
  }
  return value->get<std::int64_t>();
}

double Fields::number(const std::string& name, double fallback) const {
  const nlohmann::ordered_json* value = value_->find(name);
  if (value != nullptr && !value->is_number()) {
    refuse(name, "a number");
  }
  return value == nullptr ? fallback : value->get<double>();
}

std::string Fields::text(const std::string& name, const std::string& fallback) const {
  const nlohmann::ordered_json* value = value_->find(name);
  if (value != nullptr && !value->is_string()) {
    refuse(name, "a string");
  }
  return value == nullptr ? fallback : value->get<std::string>();
}

std::optional<std::vector<std::string>> Fields::texts(const std::string& name) const {
  const nlohmann::ordered_json* value = value_->find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->is_string()) {
    return std::vector{value->get<std::string>()};
  }
  if (!value->is_array()) {
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (const auto& each : *value) {
    if (!each.is_string()) {
      return std::nullopt;
    }
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

TokenIds Fields::ids(const std::string& name) const {
  const nlohmann::ordered_json* value = value_->find(name);
  if (value == nullptr) {
    return {};
  }
  const auto ids = id_list(*value);
  if (!ids) {
    refuse(name, "a list of token ids");
  }
  return *ids;
}

std::vector<Prompt> Fields::prompts(const std::string& name) const {
  const nlohmann::ordered_json* value = value_->find(name);
  if (value == nullptr) {
    return {Prompt{}};
  }
  // The value is tried as texts first, then as one list of ids, then as a list of such lists.
  std::vector<Prompt> prompts;
  if (const auto strings = texts(name); strings && !strings->empty()) {
    for (const std::string& text : *strings) {
      prompts.push_back({text, std::nullopt});
    }
  } else if (const auto ids = id_list(*value); ids && !ids->empty()) {
    prompts.push_back({{}, *ids});
  } else if (value->is_array()) {
    for (const auto& each : *value) {
      const auto list = id_list(each);
      if (!list || list->empty()) {
        prompts.clear();
        break;
      }
      prompts.push_back({{}, *list});
    }
  }
  if (prompts.empty()) {
    refuse(name, "a string, a list of strings, a list of token ids or a list of such lists");
  }
  return prompts;
}

std::vector<std::pair<TokenId, double>> Fields::bias(const std::string& name) const {
  const nlohmann::ordered_json* value = value_->find(name);
  std::vector<std::pair<TokenId, double>> bias;
  if (value == nullptr) {
    return bias;
  }
  if (!value->is_object()) {
    refuse(name, "an object of token ids and numbers");
  }
  for (const auto& [key, number] : value->items()) {
    TokenId id = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size() || !number.is_number() ||
        number.get<double>() < -100 || number.get<double>() > 100) {
      refuse(name, "an object of token ids and numbers from -100 to 100");
    }
    bias.emplace_back(id, number.get<double>());
  }
  return bias;
}

Fields Fields::object(const std::string& name) const {
  const nlohmann::ordered_json* value = value_->find(name);
  if (value != nullptr && !value->is_object()) {
    refuse(name, "an object");
  }
  return Fields(
      std::make_unique<Value>(Value{value == nullptr ? nlohmann::ordered_json::object() : *value}));
}

std::string Fields::json(const std::string& name) const {
  const nlohmann::ordered_json* value = value_->find(name);
  return value == nullptr ? "null" : value->dump();
}

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace mpitron::inference
