// Cuts the part that counts out of an answer by regular expressions, and compares it with what is
// right, as lm-evaluation-harness does.
#include "inference/tasks/answer_filter.h"

#include <algorithm>
#include <cctype>

#include "utils/error.h"
#include "utils/text/blanks.h"

namespace mpitron::inference {
namespace {

/// A point that stands for line feeds, too.
std::string with_line_feeds(const std::string& pattern) {
  std::string result;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      result += pattern.substr(i++, 2);
      continue;
    }
    in_class = c == '[' || (in_class && c != ']');
    result += c == '.' && !in_class ? "[\\s\\S]" : std::string(1, c);
  }
  return result;
}

/// Returns the text of a match, or its first group with text where it has groups.
std::string found(const std::smatch& match) {
  if (match.size() == 1) {
    return match.str();
  }
  for (std::size_t group = 1; group < match.size(); ++group) {
    if (match.length(group) > 0) {
      return match.str(group);
    }
  }
  return match.size() == 2 ? "" : "[invalid]";
}

}  // namespace

std::regex python_regex(const std::string& pattern) {
  constexpr const char* kLineFeeds = "(?s)";
  try {
    return std::regex(pattern.starts_with(kLineFeeds) ? with_line_feeds(pattern.substr(4))
                                                      : pattern);
  } catch (const std::regex_error& error) {
    throw_data("the regular expression \"{}\": {}", pattern, error.what());
  }
}

/// Returns the text of the match that is selected, without blanks around it.
std::string AnswerFilter::operator()(const std::string& answer) const {
  if (!extracts) {
    return answer;
  }
  std::vector<std::string> matches;
  for (std::sregex_iterator at(answer.begin(), answer.end(), pattern), end; at != end; ++at) {
    matches.push_back(found(*at));
  }
  const auto count = static_cast<long>(matches.size());
  const long place = select < 0 ? count + select : select;
  return place >= 0 && place < count
             ? std::string(stripped(matches[static_cast<std::size_t>(place)]))
             : "[invalid]";
}

/// Compares two texts after what does not count was taken out.
bool AnswerComparison::same(const std::string& a, const std::string& b) const {
  const auto plain = [this](std::string text) {
    for (const std::regex& pattern : ignored) {
      text = std::regex_replace(text, pattern, "");
    }
    if (ignore_case) {
      std::ranges::transform(text, text.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    }
    if (ignore_punctuation) {
      std::erase_if(text, [](unsigned char c) { return std::ispunct(c) != 0; });
    }
    return text;
  };
  return plain(a) == plain(b);
}

}  // namespace mpitron::inference
