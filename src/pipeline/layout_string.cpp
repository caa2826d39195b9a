#include "pipeline/stage_layout.h"
#include "utils/error.h"
#include "utils/numbers/shape.h"

// Reads --pipeline-model-parallel-layout, for example Et*3|(tt|)*2,m|L: E is the embedding, t a
// layer, m a depth of multi-token prediction, L the loss; bars stand between stages, *N repeats a
// symbol or a group.

namespace mpitron::pipeline {
namespace {

constexpr std::size_t kMaxSymbols = 1'000'000;
constexpr Index kMaxCount = 1'000'000;
constexpr std::string_view kSymbols = "EtmL|";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// layout := item*; item := (symbol | '(' item+ ')' ) ['*' INT]. A group needs its count and holds
/// no group, as in the reference.
class LayoutParser {
 public:
  explicit LayoutParser(std::string_view text) : text_(text) {}

  /// The symbols with all repetitions written out.
  std::string parse() {
    std::string symbols;
    while (peek() != '\0') {
      append(symbols, item());
    }
    return symbols;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw_usage(
        "--pipeline-model-parallel-layout '{}': {} at column {}; write stages of E, t, m and L "
        "separated by |, with x*N or (...)*N to repeat, like Et*3|(tt|)*2,m|L",
        text_, what, at_ + 1);
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ',') {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::string item() {
    if (peek() != '(') {
      return repeated(std::string(1, symbol()));
    }
    ++at_;
    std::string group;
    while (peek() != ')') {
      append(group, peek() == '(' ? nested() : repeated(std::string(1, symbol())));
    }
    ++at_;
    if (group.empty()) {
      fail("the group is empty");
    }
    if (peek() != '*') {
      fail("expected * and a number after a group");
    }
    return repeated(group);
  }

  [[noreturn]] std::string nested() const { fail("a group may not hold another group"); }

  char symbol() {
    const char c = peek();
    if (kSymbols.find(c) == std::string_view::npos) {
      fail(c == '\0' ? std::string("the text ends early") : "'" + std::string(1, c) + "'");
    }
    ++at_;
    return c;
  }

  std::string repeated(const std::string& what) {
    if (peek() != '*') {
      return what;
    }
    ++at_;
    std::string all;
    for (Index i = number(); i > 0; --i) {
      append(all, what);
    }
    return all;
  }

  Index number() {
    if (!is_digit(peek())) {
      fail("expected a number");
    }
    Index count = 0;
    while (is_digit(peek())) {
      count = count * 10 + (text_[at_] - '0');
      if (count > kMaxCount) {
        fail("the number is too large");
      }
      ++at_;
    }
    return count;
  }

  void append(std::string& to, const std::string& what) const {
    if (to.size() + what.size() > kMaxSymbols) {
      fail("the layout is too long");
    }
    to += what;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::string> parse_layout_string(std::string_view text) {
  std::vector<std::string> stages(1);
  for (const char symbol : LayoutParser(text).parse()) {
    if (symbol == '|') {
      stages.emplace_back();
    } else {
      stages.back() += symbol;
    }
  }
  return stages;
}

}  // namespace mpitron::pipeline
