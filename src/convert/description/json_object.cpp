#include "convert/description/json_object.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/text/json_nesting.h"

// JSON objects of configurations behind a small interface.

namespace mpitron::convert {
namespace {

using Json = nlohmann::ordered_json;

/// Counts null as absent, as configurations of Hugging Face mean it.
const Json* find(const Json& json, const std::string& name) {
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

/// Returns the list's entries; an empty list where it is absent or of another type.
const Json& list(const Json& json, const std::string& name) {
  static const Json kEmpty = Json::array();
  const Json* value = find(json, name);
  return value != nullptr && value->is_array() ? *value : kEmpty;
}

/// Replaces Infinity outside of strings by the largest number.
std::string without_infinities(const std::string& text) {
  constexpr std::string_view kInfinity = "Infinity", kLargest = "1.7976931348623157e308";
  std::string result;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!quoted && text.compare(i, kInfinity.size(), kInfinity) == 0) {
      result += kLargest;
      i += kInfinity.size() - 1;
      continue;
    }
    const bool escaped = quoted && text[i] == '\\' && i + 1 < text.size();
    quoted ^= text[i] == '"';
    result.append(text, i, escaped ? 2 : 1);
    i += escaped ? 1 : 0;
  }
  return result;
}

}  // namespace

struct JsonObject::Data {
  Json json = Json::object();
};

JsonObject::JsonObject() : data_(std::make_unique<Data>()) {}

JsonObject::JsonObject(const std::string& text, std::string source)
    : data_(std::make_unique<Data>()), source_(std::move(source)) {
  data_->json =
      unlike_real_objects(text) ? Json() : Json::parse(without_infinities(text), nullptr, false);
  if (!data_->json.is_object()) {
    throw_data("{}: no JSON object", source_);
  }
}

JsonObject::JsonObject(const JsonObject& other)
    : data_(std::make_unique<Data>(*other.data_)), source_(other.source_) {}

JsonObject& JsonObject::operator=(const JsonObject& other) {
  *data_ = *other.data_;
  source_ = other.source_;
  return *this;
}

JsonObject::~JsonObject() = default;

bool JsonObject::has(const std::string& name) const {
  return find(data_->json, name) != nullptr;
}

std::string JsonObject::text(const std::string& name, const std::string& otherwise) const {
  const Json* value = find(data_->json, name);
  return value == nullptr     ? otherwise
         : value->is_string() ? value->get<std::string>()
                              : value->dump();
}

bool JsonObject::flag(const std::string& name, bool otherwise) const {
  const Json* value = find(data_->json, name);
  if (value != nullptr && !value->is_boolean()) {
    throw_data("{}: {} is {}, expected true or false", source_, name, value->dump());
  }
  return value == nullptr ? otherwise : value->get<bool>();
}

/// A value that is no number counts as absent: files of some families hold a text or an object
/// there.
double JsonObject::real(const std::string& name, double otherwise) const {
  const Json* value = find(data_->json, name);
  return value != nullptr && value->is_number() ? value->get<double>() : otherwise;
}

/// Accepts 4096.0, too, and 2^31 at most: products of two sizes stay within 64 bits.
Index JsonObject::size(const std::string& name) const {
  constexpr double kLargest = 2147483648.0;
  const double value = real(name, 0);
  if (!(value >= 1 && value <= kLargest) || value != std::floor(value)) {
    throw_data("{}: {} is {}, expected a number from 1 to {}", source_, name, text(name, "absent"),
               static_cast<Index>(kLargest));
  }
  return static_cast<Index>(value);
}

Index JsonObject::size(const std::string& name, Index otherwise) const {
  return has(name) ? size(name) : otherwise;
}

Index JsonObject::count() const {
  return static_cast<Index>(data_->json.size());
}

JsonObject JsonObject::object(const std::string& name) const {
  JsonObject result;
  result.source_ = source_;
  if (const Json* value = find(data_->json, name); value != nullptr && value->is_object()) {
    result.data_->json = *value;
  }
  return result;
}

std::vector<std::string> JsonObject::texts(const std::string& name) const {
  std::vector<std::string> result;
  for (const Json& entry : list(data_->json, name)) {
    result.push_back(entry.is_string() ? entry.get<std::string>() : "");
  }
  return result;
}

std::vector<double> JsonObject::reals(const std::string& name) const {
  std::vector<double> result;
  for (const Json& entry : list(data_->json, name)) {
    result.push_back(entry.is_number() ? entry.get<double>() : INFINITY);
  }
  return result;
}

void JsonObject::set(const std::string& name, bool value) {
  data_->json[name] = value;
}

void JsonObject::set(const std::string& name, Index value) {
  data_->json[name] = value;
}

void JsonObject::set(const std::string& name, double value) {
  data_->json[name] = value;
}

void JsonObject::set(const std::string& name, const char* value) {
  data_->json[name] = value;
}

void JsonObject::set(const std::string& name, const JsonObject& value) {
  data_->json[name] = value.data_->json;
}

void JsonObject::set_list(const std::string& name, const std::vector<std::string>& entries) {
  data_->json[name] = entries;
}

void JsonObject::set_list(const std::string& name, const std::vector<Index>& entries) {
  data_->json[name] = entries;
}

void JsonObject::set_null(const std::string& name) {
  data_->json[name] = nullptr;
}

void JsonObject::erase(const std::string& name) {
  data_->json.erase(name);
}

std::string JsonObject::dump() const {
  return data_->json.dump(2) + "\n";
}

}  // namespace mpitron::convert
