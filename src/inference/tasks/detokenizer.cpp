#include "inference/tasks/detokenizer.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "utils/error.h"
#include "utils/text/blanks.h"

namespace mpitron::inference {
namespace {

struct Replacement {
  std::string_view from, to;
};

constexpr Replacement kBeforePairs[] = {
    {"s '", "s'"}, {" @-@ ", "-"}, {" @,@ ", ","}, {" @.@ ", "."}, {" : ", ": "},
    {" ; ", "; "}, {" . ", ". "},  {" ! ", "! "},  {" ? ", "? "},  {" , ", ", "},
};
constexpr Replacement kBehindPairs[] = {
    {"= = = =", "===="}, {"= = =", "==="}, {"= =", "=="},  {" \u00b0 ", "\u00b0"},
    {" \n", "\n"},       {"\n ", "\n"},    {" N ", " 1 "}, {" 's", "'s"},
};
constexpr Replacement kPtb[] = {
    {" '", "'"},   {" \n", "\n"}, {"\n ", "\n"}, {" n't", "n't"},
    {" N ", "1 "}, {"$ 1", "$1"}, {"# 1", "#1"},
};

/// Python's str.replace: from left to right, never inside what was just replaced.
std::string replace_all(const std::string& text, const Replacement& rule) {
  std::string result;
  std::size_t at = 0;
  for (auto found = text.find(rule.from); found != std::string::npos;
       found = text.find(rule.from, at)) {
    result.append(text, at, found - at).append(rule.to);
    at = found + rule.from.size();
  }
  return result.append(text, at);
}

std::string replace_all(std::string text, std::span<const Replacement> rules) {
  for (const Replacement& rule : rules) {
    text = replace_all(text, rule);
  }
  return text;
}

/// Removes white space just inside pairs of delimiters, across lines: `( a b )` becomes `(a b)`.
std::string tighten(const std::string& text, char open, char close) {
  std::string result;
  std::size_t at = 0;
  while (true) {
    const std::size_t first = text.find(open, at);
    const std::size_t last = first == std::string::npos ? first : text.find(close, first + 1);
    if (last == std::string::npos) {
      return result.append(text, at);
    }
    const std::string_view inner =
        stripped(std::string_view(text).substr(first + 1, last - first - 1), kTextBlanks);
    result.append(text, at, first + 1 - at).append(inner) += close;
    at = last + 1;
  }
}

}  // namespace

std::string detokenize_wikitext(std::string text) {
  text = replace_all(std::move(text), kBeforePairs);
  for (const std::string_view pair : {"()", "[]", "{}", "\"\"", "''"}) {
    text = tighten(text, pair[0], pair[1]);
  }
  return replace_all(std::move(text), kBehindPairs);
}

std::string detokenize_ptb(std::string text) {
  return replace_all(std::move(text), kPtb);
}

/// Chooses the detokenizer by the corpus' name in its path, as the reference's tasks do.
std::string detokenize_corpus(const std::string& path, std::string text) {
  if (path.find("ptb") != std::string::npos) {
    return detokenize_ptb(std::move(text));
  }
  if (path.find("wiki") != std::string::npos) {
    return detokenize_wikitext(std::move(text));
  }
  if (path.find("lambada") == std::string::npos) {
    throw_usage(
        "--valid-data {}: its path names no known corpus, so the words cannot be joined; "
        "allowed: a path that contains ptb, wiki or lambada; rename the file, for example "
        "wiki.test.tokens",
        path);
  }
  return text;
}

}  // namespace mpitron::inference
