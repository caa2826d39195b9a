#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::inference {

using tokenizers::TokenId;
using tokenizers::TokenIds;

/// JSON on one line; bytes that are no UTF-8 become U+FFFD.
std::string dump(const nlohmann::ordered_json& json);

/// A request that cannot be served: status, what to tell, and in OpenAI's form the field and code.
class RequestError : public std::runtime_error {
 public:
  RequestError(int status, const std::string& message, std::string field = {},
               std::string code = {})
      : std::runtime_error(message),
        status_(status),
        field_(std::move(field)),
        code_(std::move(code)) {}
  int status() const { return status_; }
  const std::string& field() const { return field_; }
  const std::string& code() const { return code_; }

 private:
  int status_;
  std::string field_;
  std::string code_;
};

/// A prompt as a client gives it.
struct Prompt {
  std::string text;
  std::optional<TokenIds> ids;
};

/// What a field of a request holds.
enum class FieldType {
  boolean,
  integer,
  number,
  real,  // a number that is written as no integer
  text,
  texts,  // a string or a list of strings
  ids,
  prompts,
  bias,
  list,
  object,
  any,
  absent  // known to other servers and not available here
};

/// A field of a request. Requests are read and refused by these rows, and the OpenAPI document is
/// made of them.
struct FieldRule {
  const char* name = "";
  FieldType type = FieldType::any;
  double least = 0, most = 0;  // of a number, and of strings in a list; equal: any
  const char* help = "";
  bool required = false;
  const char* wrong = nullptr;  // the reference's own text where the type is another one
};
using FieldRules = std::span<const FieldRule>;

// Tables of the fields of each request's body. A field that no table lists is ignored, because
// clients send much that only some servers know.
FieldRules completion_fields();
FieldRules chat_fields();
FieldRules tokenize_fields();
FieldRules detokenize_fields();
FieldRules load_adapter_fields();
FieldRules unload_adapter_fields();
/// Returns the fields of Megatron's PUT /api. Their reader (megatron_api.cpp) makes the checks
/// itself, since the reference's order and texts differ from those of Fields::parse.
FieldRules megatron_fields();

/// The fields of a JSON object. Readers throw RequestError(400) naming the field for another type;
/// a field that is null counts as absent.
class Fields {
 public:
  enum class Kind { absent, null, boolean, integer, real, text, list, object };

  /// RequestError(400) for what is no JSON object, nests deeper than 64, has an object of more than
  /// 2048 names, or a field that its rule does not allow (ids, prompts and biases: their readers
  /// refuse them); fields without a rule are let through.
  static Fields parse(std::string_view body, FieldRules rules = {});
  ~Fields();
  Fields(Fields&&) noexcept;

  Kind kind(const std::string& name) const;
  bool has(const std::string& name) const { return kind(name) > Kind::null; }
  /// Readers of one value; `fallback` is returned where the field is absent or null.
  bool boolean(const std::string& name, bool fallback) const;
  std::int64_t integer(const std::string& name, std::int64_t fallback) const;
  double number(const std::string& name, double fallback) const;
  std::string text(const std::string& name, const std::string& fallback) const;
  /// A string or a list of strings; nothing for anything else.
  std::optional<std::vector<std::string>> texts(const std::string& name) const;
  /// Token ids from 0 to 2^31 - 1; empty where the field is absent.
  TokenIds ids(const std::string& name) const;
  /// A string, a list of strings, a list of ids or a list of lists of ids.
  std::vector<Prompt> prompts(const std::string& name) const;
  /// {"id": value}.
  std::vector<std::pair<TokenId, double>> bias(const std::string& name) const;
  /// The JSON object under a name, empty where it is absent.
  Fields object(const std::string& name) const;
  /// The JSON text of a field; "null" where it is absent.
  std::string json(const std::string& name) const;

 private:
  struct Value;
  explicit Fields(std::unique_ptr<Value> value);
  void check(const FieldRule& rule) const;
  void check_type(const FieldRule& rule) const;
  std::optional<double> bounded_value(const FieldRule& rule) const;
  std::unique_ptr<Value> value_;
};

}  // namespace mpitron::inference
