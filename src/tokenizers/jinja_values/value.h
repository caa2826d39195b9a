#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace mpitron::tokenizers::jinja {

class Value;
class Dict;
class Object;
using List = std::vector<Value>;

/// The result of an expression: Python's values as far as templates know them. Copies share lists,
/// dictionaries and texts. Objects belong to the rendering that made them.
class Value {
 public:
  struct Undefined {
    std::shared_ptr<const std::string> why;  // told when more than its text is asked for
  };
  struct None {};
  using Text = std::shared_ptr<const std::string>;
  struct Sequence {
    std::shared_ptr<List> items;
    bool is_tuple = false;
  };

  Value() : data_(None{}) {}
  Value(bool value) : data_(value) {}
  Value(int value) : data_(std::int64_t{value}) {}
  Value(std::int64_t value) : data_(value) {}
  Value(double value) : data_(value) {}
  Value(std::string text) : data_(std::make_shared<const std::string>(std::move(text))) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(Object& object) : data_(&object) {}
  Value(std::shared_ptr<List> items, bool is_tuple) : data_(Sequence{std::move(items), is_tuple}) {}
  Value(std::shared_ptr<Dict> dict) : data_(std::move(dict)) {}
  /// Make values that are given to a rendering from outside, which does not change them. (What a
  /// rendering makes is owned by its Run: it may be nested without limit, or hold itself.)
  static Value of(List items) { return {std::make_shared<List>(std::move(items)), false}; }
  static Value of(Dict dict);
  /// Makes a value that fails with `why` where more than its empty text is asked for.
  static Value undefined(std::string why);

  bool is_undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool is_none() const { return std::holds_alternative<None>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  /// An integer, or a truth value, which is one.
  bool is_integer() const { return std::holds_alternative<std::int64_t>(data_) || is_bool(); }
  bool is_real() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_integer() || is_real(); }

  /// Return the content where it is of this kind, else null.
  const std::string* text() const;
  List* list() const;
  Dict* dict() const;
  Object* object() const;
  /// Return a number; only for values that are one. real() converts integers.
  std::int64_t integer() const;
  double real() const;

  bool is_tuple() const;
  /// Returns the reason of an undefined value.
  const std::string& why() const { return *std::get<Undefined>(data_).why; }
  /// Python's truth: false for zero, empty, none and undefined values.
  bool truthy() const;
  /// Python's name of the type: str, int, dict, ...
  std::string_view type_name() const;

 private:
  std::variant<Undefined, None, bool, std::int64_t, double, Text, Sequence, std::shared_ptr<Dict>,
               Object*>
      data_;
};

/// A dictionary that keeps the order of its entries. 1, 1.0 and true are one key, as in Python.
class Dict {
 public:
  /// Return null where there is no such key; find_name takes a text.
  const Value* find(const Value& key) const;
  const Value* find_name(std::string_view name) const;
  /// Replaces or appends; a Fault for keys that Python cannot hash.
  void set(const Value& key, Value value);
  const std::vector<std::pair<Value, Value>>& items() const { return items_; }
  std::size_t size() const { return items_.size(); }

 private:
  static std::string name_of(const Value& key, int depth = 0);
  std::vector<std::pair<Value, Value>> items_;
  std::unordered_map<std::string, std::size_t> index_;
};

/// Returns the value of a JSON text. Error(data) for what is no JSON or nests too deeply.
Value value_of_json(std::string_view text);

}  // namespace mpitron::tokenizers::jinja
