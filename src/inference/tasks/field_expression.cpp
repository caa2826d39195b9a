#include "inference/tasks/field_expression.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/text/blanks.h"

// The small part of Jinja expressions that task files use, read and evaluated in one pass.

namespace mpitron::inference {
namespace {

using UnorderedJson = nlohmann::json;

std::string with_case(std::string text, bool upper) {
  std::ranges::transform(text, text.begin(), [upper](unsigned char c) {
    return static_cast<char>(upper ? std::toupper(c) : std::tolower(c));
  });
  return text;
}

UnorderedJson split(const std::string& text, const std::string& separator, std::size_t most) {
  UnorderedJson parts = UnorderedJson::array();
  std::size_t begin = 0;
  for (std::size_t at = text.find(separator);
       at != text.npos && parts.size() < most && !separator.empty();
       at = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, at - begin));
    begin = at + separator.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// Returns what a call of one of Python's methods returns.
UnorderedJson called(const UnorderedJson& value, const std::string& method,
                     const std::vector<UnorderedJson>& arguments) {
  if (value.is_array() && method == "index" && arguments.size() == 1) {
    const auto found = std::ranges::find(value, arguments[0]);
    if (found == value.end()) {
      throw_data("{} is not in {}", arguments[0].dump(), value.dump());
    }
    return found - value.begin();
  }
  if (!value.is_string()) {
    throw_data("{} has no method {}", value.dump(), method);
  }
  const auto text = value.get<std::string>();
  if (method == "split" && !arguments.empty() && arguments[0].is_string()) {
    return split(text, arguments[0],
                 arguments.size() > 1 ? arguments[1].get<std::size_t>() : text.size());
  }
  if (method == "strip" && arguments.empty()) {
    return stripped(text);
  }
  if (method == "capitalize" && arguments.empty()) {
    return with_case(text.substr(0, 1), true) +
           with_case(text.substr(std::min<std::size_t>(1, text.size())), false);
  }
  if ((method == "lower" || method == "upper") && arguments.empty()) {
    return with_case(text, method == "upper");
  }
  throw_data("no method {} of texts; known are strip, capitalize, lower, upper, split(text)",
             method);
}

class Reader {
 public:
  Reader(std::string_view text, const UnorderedJson& document) : rest_(text), document_(document) {}

  UnorderedJson whole() {
    UnorderedJson value = sum();
    if (!rest_.empty()) {
      throw_data("the expression cannot be read from \"{}\" on", rest_);
    }
    return value;
  }

 private:
  bool take(char c) {
    rest_ = from_first_word(rest_);
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    rest_ = from_first_word(rest_);
    return true;
  }
  void need(char c) {
    if (!take(c)) {
      throw_data("'{}' is missing in front of \"{}\"", c, rest_);
    }
  }
  std::string word() {
    const auto end = std::ranges::find_if(
        rest_, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; });
    std::string result(rest_.begin(), end);
    rest_.remove_prefix(result.size());
    take(' ');
    return result;
  }

  /// Reads a sum; texts are joined and numbers added, as in Python.
  UnorderedJson sum() {
    UnorderedJson value = term();
    while (take('+')) {
      const UnorderedJson more = term();
      if (value.is_string() && more.is_string()) {
        value = value.get<std::string>() + more.get<std::string>();
      } else if (value.is_number_integer() && more.is_number_integer()) {
        value = value.get<long>() + more.get<long>();
      } else {
        throw_data("{} + {}: no sum", value.dump(), more.dump());
      }
    }
    return value;
  }

  /// Reads a term with its methods, fields and places behind it.
  UnorderedJson term() {
    UnorderedJson value = primary();
    while (true) {
      if (take('.')) {
        const std::string name = word();
        value = take('(') ? called(value, name, items(')')) : part(value, UnorderedJson(name));
      } else if (take('[')) {
        const UnorderedJson key = sum();
        need(']');
        value = part(value, key);
      } else {
        return value;
      }
    }
  }

  /// Finds a part by name, or by place.
  static UnorderedJson part(const UnorderedJson& value, const UnorderedJson& key) {
    if (value.is_object() && key.is_string() && value.contains(key.get<std::string>())) {
      return value[key.get<std::string>()];
    }
    const std::string digits = key.is_string() ? key.get<std::string>() : key.dump();
    const bool number = !digits.empty() && std::ranges::all_of(digits, [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    if (value.is_array() && number && std::stoul(digits) < value.size()) {
      return value[std::stoul(digits)];
    }
    throw_data("{} has no {}", value.dump(), key.dump());
  }

  std::vector<UnorderedJson> items(char end) {
    std::vector<UnorderedJson> result;
    while (!take(end)) {
      result.push_back(sum());
      if (!take(',')) {
        need(end);
        break;
      }
    }
    return result;
  }

  /// Reads a list, a dictionary, a text, a number or a name.
  UnorderedJson primary() {
    if (take('[')) {
      return items(']');
    }
    if (take('{')) {
      UnorderedJson dictionary = UnorderedJson::object();
      while (!take('}')) {
        const UnorderedJson key = sum();
        need(':');
        dictionary[key.is_string() ? key.get<std::string>() : key.dump()] = sum();
        if (!take(',')) {
          need('}');
          break;
        }
      }
      return dictionary;
    }
    if (take('(')) {
      UnorderedJson value = sum();
      need(')');
      return value;
    }
    for (const char quote : {'\'', '"'}) {
      if (take(quote)) {
        return text_up_to(quote);
      }
    }
    return name_or_number();
  }

  UnorderedJson text_up_to(char quote) {
    // `take` skips blanks, which belong to the text here.
    const std::string_view all = rest_;
    const char* begin = all.data();
    while (begin[-1] != quote) {
      --begin;
    }
    const std::string_view inside(begin, static_cast<std::size_t>(all.end() - begin));
    const std::size_t end = inside.find(quote);
    if (end == inside.npos) {
      throw_data("a text ends without {}", quote);
    }
    rest_ = inside.substr(end + 1);
    take(' ');
    return std::string(inside.substr(0, end));
  }

  UnorderedJson name_or_number() {
    const std::string name = word();
    if (name.empty()) {
      throw_data("the expression cannot be read from \"{}\" on", rest_);
    }
    if (std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; })) {
      return std::stol(name);
    }
    if (!document_.contains(name)) {
      throw_data("no field {}", name);
    }
    return document_[name];
  }

  std::string_view rest_;
  const UnorderedJson& document_;
};

}  // namespace

nlohmann::json field_value(std::string_view expression, const nlohmann::json& document) {
  return Reader(stripped(expression), document).whole();
}

}  // namespace mpitron::inference
