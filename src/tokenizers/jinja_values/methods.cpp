#include <algorithm>

#include <fmt/format.h>

#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/jinja_values/python_text.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/text/utf8.h"

// Methods of Python's str, dict and list that templates call, each a function of the value and its
// arguments. Work is counted before it is done: a short template can ask for much.

namespace mpitron::tokenizers::jinja {
namespace {

std::optional<std::string> optional_text(const Arguments::Bound& bound, std::size_t i) {
  return bound.has(i) && !bound[i].is_none() ? std::optional(bound.text(i, "")) : std::nullopt;
}

/// Implements strip, lstrip and rstrip; `chars` is a set of characters, not an affix.
template <std::string_view (*strip_some)(std::string_view, std::optional<std::string_view>)>
Value strip_method(Run& run, const Value& self, const Arguments& arguments) {
  const auto set = optional_text(arguments.bind("strip", {"chars"}), 0);
  run.spend(self.text()->size() / 32);
  return std::string(
      strip_some(*self.text(), set ? std::optional<std::string_view>(*set) : std::nullopt));
}

std::string_view strip_both(std::string_view text, std::optional<std::string_view> set) {
  return strip(text, set);
}

/// Implements split and rsplit; without a separator text is cut at runs of white space.
template <bool from_right>
Value split_method(Run& run, const Value& self, const Arguments& arguments) {
  const auto bound = arguments.bind("split", {"sep", "maxsplit"});
  const auto separator = optional_text(bound, 0);
  if (separator && separator->empty()) {
    throw Fault("empty separator");
  }
  run.spend(self.text()->size() / 32);
  List parts;
  for (const std::string_view part :
       split(*self.text(), separator ? std::optional<std::string_view>(*separator) : std::nullopt,
             bound.integer(1, -1), from_right)) {
    parts.emplace_back(part);
  }
  return run.list(std::move(parts));
}

Value split_lines_method(Run& run, const Value& self, const Arguments& arguments) {
  const auto bound = arguments.bind("splitlines", {"keepends"});
  List lines;
  for (const std::string_view line : split_lines(*self.text(), bound.truthy(0, false))) {
    lines.emplace_back(line);
  }
  return run.list(std::move(lines));
}

/// Implements startswith and endswith, which take one text or a tuple of them.
template <bool at_end>
Value affix_method(Run& run, const Value& self, const Arguments& arguments) {
  const auto bound = arguments.bind(at_end ? "endswith" : "startswith", {"prefix"}, 1);
  const auto has = [&](const Value& affix) {
    if (affix.text() == nullptr) {
      throw Fault(fmt::format("{} first arg must be str or a tuple of str, not {}",
                              at_end ? "endswith" : "startswith", affix.type_name()));
    }
    return at_end ? self.text()->ends_with(*affix.text()) : self.text()->starts_with(*affix.text());
  };
  return bound[0].is_tuple() ? std::ranges::any_of(elements_of(run, bound[0]), has) : has(bound[0]);
}

/// Implements upper, lower, title and capitalize.
template <std::string (*change)(std::string_view)>
Value case_method(Run& run, const Value& self, const Arguments& arguments) {
  arguments.bind("a method of texts", {});
  return run.text(change(*self.text()));
}

/// Counts the largest result that can be before it is built.
Value replace_method(Run& run, const Value& self, const Arguments& arguments) {
  const auto bound = arguments.bind("replace", {"old", "new", "count"}, 2);
  const std::string from = bound.text(0, ""), to = bound.text(1, "");
  const std::size_t most = self.text()->size() / std::max<std::size_t>(from.size(), 1) + 1;
  run.spend((self.text()->size() + most * to.size()) / 32);
  return replaced(*self.text(), from, to, bound.integer(2, -1));
}

/// Implements find, rfind and index; positions count characters.
template <bool from_right, bool fails>
Value find_text_method(Run& run, const Value& self, const Arguments& arguments) {
  const std::string part = arguments.bind("find", {"sub"}, 1).text(0, "");
  run.spend(self.text()->size() / 32);
  const std::size_t at = from_right ? self.text()->rfind(part) : self.text()->find(part);
  if (at == std::string::npos && fails) {
    throw Fault("substring not found");
  }
  return at == std::string::npos ? Value(-1)
                                 : Value(characters(std::string_view(*self.text()).substr(0, at)));
}

/// Counts places that do not overlap; an empty text is between all characters.
Value count_text_method(Run& run, const Value& self, const Arguments& arguments) {
  const std::string part = arguments.bind("count", {"sub"}, 1).text(0, "");
  run.spend(self.text()->size() / 32);
  if (part.empty()) {
    return characters(*self.text()) + 1;
  }
  std::int64_t count = 0;
  for (std::size_t at = self.text()->find(part); at != std::string::npos;
       at = self.text()->find(part, at + part.size())) {
    ++count;
  }
  return count;
}

/// Joins texts; unlike the filter of this name it takes no other values.
Value join_method(Run& run, const Value& self, const Arguments& arguments) {
  std::string text;
  bool first = true;
  for (const Value& each : elements_of(run, arguments.bind("join", {"iterable"}, 1)[0])) {
    if (each.text() == nullptr) {
      throw Fault(fmt::format("sequence item: expected str instance, {} found", each.type_name()));
    }
    text += std::exchange(first, false) ? "" : *self.text();
    text += *each.text();
    run.spend(self.text()->size() / 32);
  }
  return run.text(std::move(text));
}

/// Returns whether a text is not empty and all its characters are of a kind.
template <bool (*is_kind)(std::uint32_t)>
Value all_characters_method(Run& run, const Value& self, const Arguments& arguments) {
  arguments.bind("a method of texts", {});
  run.spend(self.text()->size() / 8);
  std::string_view rest = *self.text();
  bool all = !rest.empty();
  while (all && !rest.empty()) {
    const Utf8Char c = decode_utf8(rest);
    all = is_kind(c.code_point);
    rest.remove_prefix(static_cast<std::size_t>(std::max(1, c.bytes)));
  }
  return all;
}

/// Counts numbers that are no digits, too (such as a half), as str.isalnum does.
bool is_letter_or_digit(std::uint32_t c) {
  return is_letter(c) || is_number(c);
}

bool is_python_space(std::uint32_t c) {
  return is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

/// Implements islower and isupper: nothing changes in this case, something would in the other.
template <std::string (*change)(std::string_view), std::string (*other)(std::string_view)>
Value is_case_method(Run& run, const Value& self, const Arguments& arguments) {
  arguments.bind("a method of texts", {});
  const std::string& text = *self.text();
  run.spend(text.size() / 8);
  return change(text) == text && other(text) != text;
}

/// Implements removeprefix and removesuffix, which take away one affix at most.
template <bool at_end>
Value remove_affix_method(Run& run, const Value& self, const Arguments& arguments) {
  const std::string affix = arguments.bind("removeprefix", {"prefix"}, 1).text(0, "");
  const std::string& text = *self.text();
  const bool has = at_end ? text.ends_with(affix) : text.starts_with(affix);
  return !has ? self
              : run.text(at_end ? text.substr(0, text.size() - affix.size())
                                : text.substr(affix.size()));
}

/// Returns head, separator and tail; without the separator the text and two empty ones, which stand
/// in front for rpartition.
template <bool from_right>
Value partition_method(Run& run, const Value& self, const Arguments& arguments) {
  const std::string separator = arguments.bind("partition", {"sep"}, 1).text(0, "");
  if (separator.empty()) {
    throw Fault("empty separator");
  }
  const std::string& text = *self.text();
  const std::size_t at = from_right ? text.rfind(separator) : text.find(separator);
  if (at == std::string::npos) {
    return run.list(from_right ? List{"", "", self} : List{self, "", ""}, true);
  }
  return run.list({text.substr(0, at), separator, text.substr(at + separator.size())}, true);
}

/// Fills a text up to a width, on the left (-1), the right (1) or on both sides (0). It returns the
/// text as it is for a fill that is not one character.
template <int side>
Value justify_method(Run& run, const Value& self, const Arguments& arguments) {
  const auto bound = arguments.bind("ljust", {"width", "fillchar"}, 1);
  const std::string fill = bound.text(1, " ");
  const std::int64_t missing = bound.integer(0, 0) - characters(*self.text());
  if (missing <= 0 || characters(fill) != 1) {
    return self;
  }
  run.spend(static_cast<std::size_t>(missing));
  const std::int64_t width = bound.integer(0, 0);
  const std::int64_t left = side < 0   ? missing
                            : side > 0 ? 0
                                       : missing / 2 + (missing & width & 1);  // as Python rounds
  std::string text;
  for (std::int64_t i = 0; i < left; ++i) {
    text += fill;
  }
  text += *self.text();
  for (std::int64_t i = left; i < missing; ++i) {
    text += fill;
  }
  return text;
}

/// Implements str.format for `{}`, `{0}` and `{name}`, without conversions and attributes.
Value format_method(Run& run, const Value& self, const Arguments& arguments) {
  std::string text;
  std::size_t next = 0;
  std::string_view rest = *self.text();
  while (!rest.empty()) {
    const char c = rest.front();
    if ((c == '{' || c == '}') && rest.size() > 1 && rest[1] == c) {
      text += c;
      rest.remove_prefix(2);
    } else if (c == '{') {
      const std::size_t end = rest.find('}');
      const std::string name(rest.substr(1, end == std::string_view::npos ? end : end - 1));
      if (end == std::string_view::npos || name.find_first_of("!:.[") != std::string::npos) {
        throw Fault("format() knows {}, {0} and {name} only");
      }
      const bool by_place = name.find_first_not_of("0123456789") == std::string::npos;
      const auto found =
          std::ranges::find(arguments.named, name, &std::pair<std::string, Value>::first);
      const std::size_t place = name.empty()                  ? next++
                                : by_place && name.size() < 5 ? std::stoul(name)
                                                              : SIZE_MAX;
      if (by_place ? place >= arguments.positional.size() : found == arguments.named.end()) {
        throw Fault(fmt::format("format() was given no argument {}", name));
      }
      text += text_of(run, by_place ? arguments.positional[place] : found->second);
      rest.remove_prefix(end + 1);
    } else {
      text += c;
      rest.remove_prefix(1);
    }
    run.spend(text.size() / 4096 + (text.size() % 32 == 0 ? 1 : 0));
  }
  return text;
}

Value get_method(Run& /*run*/, const Value& self, const Arguments& arguments) {
  const auto bound = arguments.bind("get", {"key", "default"}, 1);
  const Value* found = self.dict()->find(bound[0]);
  return found != nullptr ? *found : bound.get(1, {});
}

/// Returns a dictionary's keys (0), values (1), or pairs (2).
template <int what>
Value entries_method(Run& run, const Value& self, const Arguments& arguments) {
  arguments.bind("a method of dictionaries", {});
  List items;
  run.spend(self.dict()->size());
  for (const auto& [key, value] : self.dict()->items()) {
    items.push_back(what == 0 ? key : what == 1 ? value : run.list({key, value}, true));
  }
  return run.list(std::move(items));
}

Value copy_method(Run& run, const Value& self, const Arguments& arguments) {
  arguments.bind("copy", {});
  return self.dict() != nullptr ? run.dict(*self.dict()) : run.list(*self.list());
}

/// Appends to lists that this rendering has made; those that were given to it belong to others. The
/// message is that of Jinja's sandbox.
Value append_method(Run& run, const Value& self, const Arguments& arguments) {
  const auto bound = arguments.bind("append", {"object"}, 1);
  if (!run.owns(self.list()) || self.is_tuple()) {
    throw Fault("access to attribute 'append' of 'list' object is unsafe.");
  }
  run.spend();
  self.list()->push_back(bound[0]);
  return {};
}

Value index_method(Run& run, const Value& self, const Arguments& arguments) {
  const Value item = arguments.bind("index", {"value"}, 1)[0];
  for (std::size_t i = 0; i < self.list()->size(); ++i) {
    if (equal(run, (*self.list())[i], item)) {
      return static_cast<std::int64_t>(i);
    }
  }
  throw Fault(fmt::format("{} is not in list", repr_of(run, item)));
}

Value count_method(Run& run, const Value& self, const Arguments& arguments) {
  const Value item = arguments.bind("count", {"value"}, 1)[0];
  return static_cast<std::int64_t>(std::ranges::count_if(
      *self.list(), [&](const Value& each) { return equal(run, each, item); }));
}

/// A method under its name in a template.
struct MethodRow {
  std::string_view name;
  Method method;
};

constexpr MethodRow kOfTexts[] = {
    {"strip", strip_method<strip_both>},
    {"lstrip", strip_method<strip_left>},
    {"rstrip", strip_method<strip_right>},
    {"split", split_method<false>},
    {"rsplit", split_method<true>},
    {"splitlines", split_lines_method},
    {"startswith", affix_method<false>},
    {"endswith", affix_method<true>},
    {"upper", case_method<upper_case>},
    {"lower", case_method<lower_case_with_final_sigma>},
    {"title", case_method<title_case>},
    {"capitalize", case_method<capitalized>},
    {"replace", replace_method},
    {"find", find_text_method<false, false>},
    {"rfind", find_text_method<true, false>},
    {"index", find_text_method<false, true>},
    {"count", count_text_method},
    {"join", join_method},
    {"isdigit", all_characters_method<is_number>},
    {"isnumeric", all_characters_method<is_number>},
    {"isalpha", all_characters_method<is_letter>},
    {"isalnum", all_characters_method<is_letter_or_digit>},
    {"isspace", all_characters_method<is_python_space>},
    {"islower", is_case_method<lower_case, upper_case>},
    {"isupper", is_case_method<upper_case, lower_case>},
    {"removeprefix", remove_affix_method<false>},
    {"removesuffix", remove_affix_method<true>},
    {"partition", partition_method<false>},
    {"rpartition", partition_method<true>},
    {"ljust", justify_method<1>},
    {"rjust", justify_method<-1>},
    {"center", justify_method<0>},
    {"format", format_method},
};
constexpr MethodRow kOfDicts[] = {
    {"get", get_method},          {"keys", entries_method<0>}, {"values", entries_method<1>},
    {"items", entries_method<2>}, {"copy", copy_method},
};
constexpr MethodRow kOfLists[] = {
    {"append", append_method},
    {"index", index_method},
    {"count", count_method},
    {"copy", copy_method},
};

template <std::size_t n>
Method find_in(const MethodRow (&rows)[n], std::string_view name) {
  const auto* const found = std::ranges::find(rows, name, &MethodRow::name);
  return found == std::end(rows) ? nullptr : found->method;
}

}  // namespace

Method find_method(const Value& value, std::string_view name) {
  return value.text() != nullptr   ? find_in(kOfTexts, name)
         : value.dict() != nullptr ? find_in(kOfDicts, name)
         : value.list() != nullptr ? find_in(kOfLists, name)
                                   : nullptr;
}

}  // namespace mpitron::tokenizers::jinja
