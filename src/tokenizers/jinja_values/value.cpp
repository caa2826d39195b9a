#include "tokenizers/jinja_values/value.h"

#include <cmath>

#include <fmt/format.h>

#include "tokenizers/jinja_values/object.h"
#include "utils/error.h"

// Values of templates: access by type, truth, and dictionaries that keep their order.

namespace mpitron::tokenizers::jinja {
namespace {

constexpr int kDeepestKey = 20;

}  // namespace

Value Value::of(Dict dict) {
  return {std::make_shared<Dict>(std::move(dict))};
}

Value Value::undefined(std::string why) {
  Value value;
  value.data_ = Undefined{std::make_shared<const std::string>(std::move(why))};
  return value;
}

const std::string* Value::text() const {
  const Text* text = std::get_if<Text>(&data_);
  return text == nullptr ? nullptr : text->get();
}

List* Value::list() const {
  const Sequence* sequence = std::get_if<Sequence>(&data_);
  return sequence == nullptr ? nullptr : sequence->items.get();
}

Dict* Value::dict() const {
  const auto* dict = std::get_if<std::shared_ptr<Dict>>(&data_);
  return dict == nullptr ? nullptr : dict->get();
}

Object* Value::object() const {
  Object* const* object = std::get_if<Object*>(&data_);
  return object == nullptr ? nullptr : *object;
}

std::int64_t Value::integer() const {
  if (const bool* truth = std::get_if<bool>(&data_)) {
    return *truth ? 1 : 0;
  }
  return std::get<std::int64_t>(data_);
}

double Value::real() const {
  return is_real() ? std::get<double>(data_) : static_cast<double>(integer());
}

bool Value::is_tuple() const {
  const Sequence* sequence = std::get_if<Sequence>(&data_);
  return sequence != nullptr && sequence->is_tuple;
}

bool Value::truthy() const {
  if (is_undefined() || is_none()) {
    return false;
  }
  if (is_number()) {
    return is_real() ? real() != 0 : integer() != 0;
  }
  if (const std::string* string = text()) {
    return !string->empty();
  }
  if (const List* items = list()) {
    return !items->empty();
  }
  if (const Dict* entries = dict()) {
    return entries->size() > 0;
  }
  return true;
}

/// Returns Python's names, in the order of the variant's alternatives.
std::string_view Value::type_name() const {
  constexpr std::string_view kNames[] = {"Undefined", "NoneType", "bool", "int",
                                         "float",     "str",      "list", "dict"};
  if (is_tuple()) {
    return "tuple";
  }
  return object() != nullptr ? object()->type_name() : kNames[data_.index()];
}

/// Encodes a key as text. Texts begin with another character than everything else, so that "1" and
/// 1 are two keys; 1, 1.0 and true share one, as their hashes do in Python.
std::string Dict::name_of(const Value& key, int depth) {
  if (const std::string* text = key.text()) {
    return "s" + *text;
  }
  if (key.is_integer()) {
    return fmt::format("n{}", key.integer());
  }
  if (key.is_real()) {
    const double value = key.real();
    const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
    return whole ? fmt::format("n{}", static_cast<std::int64_t>(value)) : fmt::format("f{}", value);
  }
  if (key.is_none()) {
    return "N";
  }
  if (key.is_tuple() && depth < kDeepestKey) {
    std::string name = "t";
    for (const Value& each : *key.list()) {
      const std::string part = name_of(each, depth + 1);
      name += fmt::format("{}:{}", part.size(), part);
    }
    return name;
  }
  throw Fault(fmt::format("unhashable type: '{}'", key.type_name()));
}

const Value* Dict::find(const Value& key) const {
  const auto found = index_.find(name_of(key));
  return found == index_.end() ? nullptr : &items_[found->second].second;
}

const Value* Dict::find_name(std::string_view name) const {
  const auto found = index_.find("s" + std::string(name));
  return found == index_.end() ? nullptr : &items_[found->second].second;
}

void Dict::set(const Value& key, Value value) {
  const auto [place, is_new] = index_.try_emplace(name_of(key), items_.size());
  if (is_new) {
    items_.emplace_back(key, std::move(value));
  } else {
    items_[place->second].second = std::move(value);
  }
}

}  // namespace mpitron::tokenizers::jinja
