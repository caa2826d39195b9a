#pragma once
#include <regex>
#include <string>
#include <vector>

namespace mpitron::inference {

/// A regular expression in Python's writing, as far as ECMAScript's grammar has it; `(?s)` in front
/// lets a point stand for line feeds too. Error(data) for others.
std::regex python_regex(const std::string& pattern);

/// Part of an answer that is compared: the match of an expression that `select` names, from 0 on or
/// from the end, its first group that is not empty where it has groups. "[invalid]" where there is
/// none.
struct AnswerFilter {
  std::string name = "none";
  std::regex pattern = {};
  bool extracts = false;  // else the answer as it is
  long select = 0;

  std::string operator()(const std::string& answer) const;
};

/// When two answers are the same (exact_match).
struct AnswerComparison {
  std::vector<std::regex> ignored;
  bool ignore_case = false, ignore_punctuation = false;

  bool same(const std::string& a, const std::string& b) const;
};

}  // namespace mpitron::inference
