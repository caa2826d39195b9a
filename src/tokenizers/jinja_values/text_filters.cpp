#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/jinja_values/python_text.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// Jinja's filters of texts and numbers, with the parameters and defaults of jinja2/filters.py, and
// tojson as transformers replaces it (no escapes of HTML, keys in their order).

namespace mpitron::tokenizers::jinja {
namespace {

template <std::string (*change)(std::string_view)>
Value change_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("a filter of texts", {});
  return run.text(change(text_of(run, value)));
}

Value trim_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("trim", {"chars"});
  const std::string text = text_of(run, value);
  run.spend(text.size() / 32);
  if (!bound.has(0) || bound[0].is_none()) {
    return strip(text);
  }
  return strip(text, bound.text(0, ""));
}

/// Writes titles as Jinja's filter does, unlike str.title: words begin behind white space, - ( { [
/// <.
std::string title_of_words(std::string_view text) {
  std::string result;
  bool begins = true;
  while (!text.empty()) {
    const auto size = static_cast<std::size_t>(std::max(1, decode_utf8(text).bytes));
    const std::string_view c = text.substr(0, size);
    result += begins ? upper_case(c) : lower_case(c);
    begins = space_at(c) > 0 || std::string_view("-({[<").find(c) != std::string_view::npos;
    text.remove_prefix(size);
  }
  return result;
}

/// Escapes HTML as markupsafe does.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&#34;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// Keeps the characters that urllib.parse.quote keeps, and the slash.
std::string url_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("_.-~/").find(c) != std::string_view::npos;
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

/// Replaces as str.replace does; -1 is no limit.
Value replace_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("replace", {"old", "new", "count"}, 2);
  const Arguments given{{text_of(run, bound[0]), text_of(run, bound[1]),
                         bound.has(2) && !bound[2].is_none() ? bound[2] : Value(-1)},
                        {}};
  const Value text = text_of(run, value);
  return find_method(text, "replace")(run, text, given);
}

/// Indents all lines but the first, and empty ones only with `blank`.
Value indent_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("indent", {"width", "first", "blank"});
  const std::string indent =
      bound.has(0) && bound[0].text() != nullptr
          ? *bound[0].text()
          : std::string(
                static_cast<std::size_t>(std::clamp<std::int64_t>(bound.integer(0, 4), 0, 1000)),
                ' ');
  const std::string text = text_of(run, value) + "\n";  // so that the last line counts
  std::string result = bound.truthy(1, false) ? indent : "";
  bool first = true;
  for (const std::string_view line : split_lines(text, false)) {
    if (!std::exchange(first, false)) {
      result += '\n';
      result += !line.empty() || bound.truthy(2, false) ? indent : "";
    }
    result += line;
    run.spend((indent.size() + line.size()) / 32 + 1);
  }
  return result;
}

Value center_filter(Run& run, const Value& value, const Arguments& arguments) {
  const Value text = text_of(run, value);
  const auto bound = arguments.bind("center", {"width"});
  return find_method(text, "center")(run, text, {{bound.get(0, 80)}, {}});
}

/// Counts runs of word characters, as \w+ of Python finds them.
Value word_count_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("wordcount", {});
  const std::string text = text_of(run, value);
  run.spend(text.size() / 8);
  std::int64_t words = 0;
  bool inside = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t word = word_at(rest);
    words += word > 0 && !inside ? 1 : 0;
    inside = word > 0;
    rest.remove_prefix(word > 0 ? word
                                : static_cast<std::size_t>(std::max(1, decode_utf8(rest).bytes)));
  }
  return words;
}

/// A text that is longer by at most `leeway` stays whole. Without `killwords` the last word goes.
Value truncate_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("truncate", {"length", "killwords", "end", "leeway"});
  const std::string text = text_of(run, value), end = bound.text(2, "...");
  const std::int64_t length = bound.integer(0, 255);
  run.spend(text.size() / 32);
  if (length < characters(end)) {
    throw Fault(fmt::format("expected length >= {}, got {}", characters(end), length));
  }
  if (characters(text) <= length + bound.integer(3, 5)) {
    return text;
  }
  std::string kept = text.substr(0, byte_of(text, length - characters(end)));
  if (!bound.truthy(1, false)) {
    kept.resize(std::min(kept.rfind(' '), kept.size()));
  }
  return kept + end;
}

Value string_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("string", {});
  return run.text(text_of(run, value));
}

/// Formats by `%`; named arguments are a dictionary, others a tuple.
Value format_filter(Run& run, const Value& value, const Arguments& arguments) {
  if (!arguments.named.empty()) {
    Dict dict;
    for (const auto& [name, each] : arguments.named) {
      dict.set(name, each);
    }
    return run.text(percent_format(run, text_of(run, value), run.dict(std::move(dict))));
  }
  return run.text(percent_format(run, text_of(run, value), run.list(arguments.positional, true)));
}

/// Takes transformers' parameters, or Jinja's: an integer in the first place is an indentation.
Value tojson_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound =
      arguments.bind("tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style{.sorted = bound.truthy(3, false), .ascii = bound.truthy(0, false)};
  // The first place is `indent` in Jinja's own filter, which templates were written for as well.
  const std::size_t indent = bound.has(0) && bound[0].is_integer() && !bound[0].is_bool() ? 0 : 1;
  if (indent == 0) {
    style.ascii = false;
  }
  if (bound.has(indent) && !bound[indent].is_none()) {
    style.indent = bound[indent].text() != nullptr
                       ? *bound[indent].text()
                       : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(
                                         bound.integer(indent, 0), 0, 100)),
                                     ' ');
    style.between = ",";
  }
  if (bound.has(2) && !bound[2].is_none()) {
    const List* pair = bound[2].list();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].text() == nullptr ||
        (*pair)[1].text() == nullptr) {
      throw Fault("separators of tojson are a pair of texts");
    }
    style.between = *(*pair)[0].text();
    style.behind_key = *(*pair)[1].text();
  }
  return run.text(json_of(run, value, style));
}

Value from_json_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("from_json", {});
  const std::string text = text_of(run, value);
  run.spend(text.size());
  try {
    return value_of_json(text);
  } catch (const Error& error) {
    throw Fault(error.what());
  }
}

Value abs_filter(Run& /*run*/, const Value& value, const Arguments& arguments) {
  arguments.bind("abs", {});
  if (!value.is_number()) {
    require_defined(value);
    throw Fault(fmt::format("bad operand type for abs(): '{}'", value.type_name()));
  }
  const bool negative = value.real() < 0;
  return negative ? negated(value) : value.is_bool() ? Value(value.integer()) : value;
}

/// Drops the prefix that names a base: 0x of 16, 0o of 8, 0b of 2.
std::string_view without_base(std::string_view text, std::int64_t base) {
  const std::string_view prefix = base == 16 ? "0x" : base == 8 ? "0o" : base == 2 ? "0b" : "";
  text = strip(text);
  text.remove_prefix(!prefix.empty() && text.starts_with(prefix) ? prefix.size() : 0);
  return text;
}

/// Returns the number that a whole text writes, with blanks around it; nothing for any other text.
template <class T>
std::optional<T> parsed(std::string_view text, int base) {
  text = strip(text);
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  T number{};
  std::from_chars_result read{};
  if constexpr (std::is_integral_v<T>) {
    read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  } else {
    read = std::from_chars(text.data(), text.data() + text.size(), number);
  }
  const bool all = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return all && !text.empty() ? std::optional(number) : std::nullopt;
}

/// Reads a text as an integer, else as a real number that is cut off, else gives the default.
/// Infinity and numbers beyond 64 bits have no integer.
Value int_filter(Run& run, const Value& value, const Arguments& arguments) {
  require_defined(value);
  const auto bound = arguments.bind("int", {"default", "base"});
  const Value otherwise = bound.get(0, 0);
  const std::int64_t base = bound.integer(1, 10);
  if (value.is_integer()) {
    return value.integer();
  }
  std::optional<double> real;
  if (value.is_real()) {
    real = value.real();
  } else if (value.text() != nullptr && base >= 2 && base <= 36) {
    run.spend(value.text()->size() / 32);
    if (const auto number =
            parsed<std::int64_t>(without_base(*value.text(), base), static_cast<int>(base))) {
      return *number;
    }
    real = parsed<double>(*value.text(), 10);
  }
  return real && std::abs(*real) < 9e18 ? Value(static_cast<std::int64_t>(*real)) : otherwise;
}

Value float_filter(Run& /*run*/, const Value& value, const Arguments& arguments) {
  require_defined(value);
  const auto bound = arguments.bind("float", {"default"});
  if (value.is_number()) {
    return value.real();
  }
  const auto number =
      value.text() != nullptr ? parsed<double>(*value.text(), 10) : std::optional<double>();
  return number ? Value(*number) : bound.get(0, 0.0);
}

/// Rounds halves to even, as Python's round does. Decimal places are rounded by way of the text,
/// which knows the number's exact digits.
Value round_filter(Run& /*run*/, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("round", {"precision", "method"});
  const std::string method = bound.text(1, "common");
  const auto places = static_cast<int>(std::clamp<std::int64_t>(bound.integer(0, 0), -15, 15));
  require_defined(value);
  if (!value.is_number() || (method != "common" && method != "ceil" && method != "floor")) {
    throw Fault("round takes a number, and the methods common, ceil and floor");
  }
  const double factor = std::pow(10.0, places);
  if (method == "common" && value.is_integer()) {  // Python's round of an integer is one
    return places >= 0
               ? Value(value.integer())
               : Value(static_cast<std::int64_t>(std::nearbyint(value.real() * factor) / factor));
  }
  if (method == "common") {
    return places > 0 ? Value(std::stod(fmt::format("{:.{}f}", value.real(), places)))
                      : Value(std::nearbyint(value.real() * factor) / factor);
  }
  const double scaled = value.real() * factor;
  return (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / factor;
}

}  // namespace

std::span<const FilterRow> text_filters() {
  static constexpr FilterRow kRows[] = {
      {"upper", change_filter<upper_case>},
      {"lower", change_filter<lower_case_with_final_sigma>},
      {"capitalize", change_filter<capitalized>},
      {"title", change_filter<title_of_words>},
      {"escape", change_filter<escaped>},
      {"e", change_filter<escaped>},
      {"forceescape", change_filter<escaped>},
      {"urlencode", change_filter<url_encoded>},
      {"trim", trim_filter},
      {"replace", replace_filter},
      {"indent", indent_filter},
      {"center", center_filter},
      {"wordcount", word_count_filter},
      {"truncate", truncate_filter},
      {"string", string_filter},
      {"safe", string_filter},
      {"format", format_filter},
      {"tojson", tojson_filter},
      {"from_json", from_json_filter},
      {"abs", abs_filter},
      {"int", int_filter},
      {"float", float_filter},
      {"round", round_filter},
  };
  return kRows;
}

}  // namespace mpitron::tokenizers::jinja
