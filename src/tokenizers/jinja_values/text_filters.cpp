#include <algorithm>

#include <fmt/format.h>

#include "tokenizers/jinja_values/filter_parts.h"
#include "tokenizers/jinja_values/python_text.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// Jinja's filters of texts, with the parameters and defaults of jinja2/filters.py.

namespace mpitron::tokenizers::jinja {
namespace {

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

}  // namespace

std::span<const FilterRow> text_filters() {
  static constexpr FilterRow kRows[] = {
      {"upper", change_filter<upper_case>},
      {"lower", change_filter<lower_case_with_final_sigma>},
      {"capitalize", change_filter<capitalized>},
      {"title", change_filter<title_of_words>},
      {"trim", trim_filter},
      {"replace", replace_filter},
      {"indent", indent_filter},
      {"center", center_filter},
      {"wordcount", word_count_filter},
      {"truncate", truncate_filter},
      {"string", string_filter},
      {"safe", string_filter},
      {"format", format_filter},
  };
  return kRows;
}

}  // namespace mpitron::tokenizers::jinja
