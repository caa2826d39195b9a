#pragma once
#include <span>
#include <stdexcept>

#include "tokenizers/jinja_values/value.h"

namespace mpitron::tokenizers::jinja {

class Run;

/// The end of a rendering: a mistake of the template, or a call of raise_exception.
class Fault : public std::runtime_error {
 public:
  explicit Fault(const std::string& message, bool raised = false)
      : std::runtime_error(message), raised_(raised) {}
  /// True for raise_exception: the text is the template's own.
  bool raised() const { return raised_; }

 private:
  bool raised_;
};

/// Evaluated arguments of a call, those with `*` and `**` already spread out.
struct Arguments {
  List positional;
  std::vector<std::pair<std::string, Value>> named;

  /// Arguments by a function's parameters, as bind() returns them.
  class Bound {
   public:
    explicit Bound(std::vector<std::optional<Value>> values) : values_(std::move(values)) {}
    bool has(std::size_t i) const { return values_.at(i).has_value(); }
    const Value& operator[](std::size_t i) const { return values_.at(i).value(); }
    Value get(std::size_t i, Value otherwise) const {
      return values_.at(i).value_or(std::move(otherwise));
    }
    bool truthy(std::size_t i, bool otherwise) const {
      return has(i) ? (*this)[i].truthy() : otherwise;
    }
    /// An integer parameter; a Fault for another type.
    std::int64_t integer(std::size_t i, std::int64_t otherwise) const;
    /// A text parameter; a Fault for another type.
    std::string text(std::size_t i, std::string_view otherwise) const;

   private:
    std::vector<std::optional<Value>> values_;
  };
  /// Binds arguments to `parameters`; a Fault where one of the first `required` is missing or one
  /// fits no parameter.
  Bound bind(std::string_view callee, std::initializer_list<std::string_view> parameters,
             std::size_t required = 0) const;
};

/// Values with a life of their own: namespaces, loops, macros, methods.
class Object {
 public:
  Object() = default;
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  /// Name of the type in messages, as Python's type(x).__name__.
  virtual std::string_view type_name() const = 0;
  /// Returns nothing where there is no such attribute.
  virtual std::optional<Value> attribute(const std::string& /*name*/) { return std::nullopt; }
  /// Sets an attribute; false for objects whose attributes cannot be set.
  virtual bool set_attribute(const std::string& /*name*/, Value /*value*/) { return false; }
  virtual bool callable() const { return false; }
  /// A Fault unless callable().
  virtual Value call(Run& run, const Arguments& arguments);
  /// Returns what `{{ object }}` writes.
  virtual std::string text() const { return "<" + std::string(type_name()) + ">"; }
};

}  // namespace mpitron::tokenizers::jinja
