#include "config/values/list_expression.h"

#include <charconv>

#include "utils/error.h"

// Values of options that Python evaluates in the reference: list expressions. They are parsed by a
// grammar and bounded in depth and size; nothing is evaluated.

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

}  // namespace mpitron::config
