#include "config/values/list_expression.h"

#include <charconv>

#include "utils/error.h"

// Values of options that Python evaluates in the reference: list expressions, and lists and maps of
// words. They are parsed by a grammar and bounded in depth and size; nothing is evaluated.

namespace mpitron::config {

namespace {

constexpr int kMaxDepth = 50;
constexpr Index kMaxNumber = 1'000'000'000;

/// Parses by this grammar: expr := term ('+' term)*; term := factor ('*' factor)*; factor := INT |
/// '[' expr, ... ']' | '(' expr ')'.
class ListParser {
 public:
  explicit ListParser(std::string_view text) : text_(text) {}

  /// Reads the whole text; Error(usage) for anything behind it.
  Frequency parse() {
    Frequency value = sum(0);
    if (at_ < text_.size()) {
      fail("expected + or * or the end");
    }
    return value;
  }

 private:
  /// Tells the column, since lists are long.
  [[noreturn]] void fail(std::string_view what) const {
    throw_usage(
        "'{}' is no list expression: {} at column {}; write it like ([1]*3+[0]*1)*3, without "
        "blanks",
        text_, what, at_ + 1);
  }

  bool take(char c) {
    const bool found = at_ < text_.size() && text_[at_] == c;
    at_ += found ? 1 : 0;
    return found;
  }

  /// Adds numbers and joins lists.
  Frequency sum(int depth) {
    Frequency left = product(depth);
    while (take('+')) {
      Frequency right = product(depth);
      if (left.is_list != right.is_list) {
        fail("cannot add a list and a number");
      }
      left.number += right.number;
      left.entries.insert(left.entries.end(), right.entries.begin(), right.entries.end());
      check_size(left);
    }
    return left;
  }

  /// Multiplies numbers; a list times a number repeats it.
  Frequency product(int depth) {
    Frequency left = factor(depth);
    while (take('*')) {
      Frequency right = factor(depth);
      if (left.is_list && right.is_list) {
        fail("cannot multiply two lists");
      }
      left = left.is_list ? repeat(left.entries, right.number) : times(left.number, right);
      check_size(left);
    }
    return left;
  }

  Frequency times(Index number, const Frequency& right) const {
    return right.is_list ? repeat(right.entries, number)
                         : Frequency{false, number * right.number, {}};
  }

  /// Checks the size before the list is built.
  Frequency repeat(const std::vector<Index>& entries, Index count) const {
    if (static_cast<Index>(entries.size()) * count > kMaxListEntries) {
      fail("the list grows beyond 100000 entries");
    }
    Frequency out{true, 0, {}};
    for (Index i = 0; i < count && !entries.empty(); ++i) {
      out.entries.insert(out.entries.end(), entries.begin(), entries.end());
    }
    return out;
  }

  /// Reads a bracket, a list or a number; depth is bounded, since it recurses.
  Frequency factor(int depth) {
    if (depth > kMaxDepth) {
      fail("too many brackets");
    }
    if (take('(')) {
      Frequency inside = sum(depth + 1);
      if (!take(')')) {
        fail("expected )");
      }
      return inside;
    }
    return take('[') ? list(depth) : number();
  }

  /// Reads entries, which are sums; lists do not nest.
  Frequency list(int depth) {
    Frequency out{true, 0, {}};
    while (!take(']')) {
      const Frequency entry = sum(depth + 1);
      if (entry.is_list) {
        fail("a list inside a list");
      }
      out.entries.push_back(entry.number);
      if (take(']')) {
        break;
      }
      if (!take(',')) {
        fail("expected , or ]");
      }
    }
    return out;
  }

  /// Reads a whole number from 0 on.
  Frequency number() {
    Index value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0 || value > kMaxNumber) {
      fail("expected a number, [ or (");
    }
    at_ += static_cast<std::size_t>(end - begin);
    return {false, value, {}};
  }

  void check_size(const Frequency& value) const {
    if (static_cast<Index>(value.entries.size()) > kMaxListEntries || value.number > kMaxNumber) {
      fail("the value grows too large");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Frequency parse_list_expression(std::string_view text) {
  return ListParser(text).parse();
}

namespace {

/// Reads the whole text as a number, or nothing.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace

/// Drops empty words between commas.
std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (end > 0) {
      words.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// Reads "3" or "2-5", both included.
std::optional<std::pair<Index, Index>> layer_range(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto first = number<Index>(text.substr(0, dash));
  const auto last = dash < text.size() ? number<Index>(text.substr(dash + 1)) : first;
  return first && last ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

/// Reads "q_proj=8,v_proj=4"; nothing where an entry is malformed.
std::optional<NumberPattern> number_pattern(std::string_view text) {
  NumberPattern pattern;
  for (const std::string& word : comma_list(text)) {
    const std::size_t sign = word.find('=');
    const auto value =
        sign == word.npos ? std::nullopt : number<double>(std::string_view(word).substr(sign + 1));
    if (!value || sign == 0) {
      return std::nullopt;
    }
    pattern[word.substr(0, sign)] = *value;
  }
  return pattern;
}

}  // namespace mpitron::config
