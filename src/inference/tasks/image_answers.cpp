#include "inference/tasks/image_answers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

// Measures of answers about images, each as its benchmark's own script computes it: VQA's vote of
// ten people, ChartQA's five percent.

namespace mpitron::inference {
namespace {

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (static_cast<unsigned char>(c) > 127);
}

/// Normalises an answer much as VQA's own script does: small letters, digits for number words, no
/// articles; apostrophes stay.
std::string vqa_text(const std::string& text) {
  static constexpr std::array<std::string_view, 11> kNumbers = {
      "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};
  std::string result;
  for (std::string word : words_of(text, "'.:")) {
    while (!word.empty() && !is_letter(word.back())) {  // the end of a sentence
      word.pop_back();
    }
    const auto number = std::ranges::find(kNumbers, word);
    if (number != kNumbers.end() || word == "zero") {
      word = word == "zero" ? "0" : std::to_string(number - kNumbers.begin());
    }
    if (!word.empty() && word != "a" && word != "an" && word != "the") {
      result += (result.empty() ? "" : " ") + word;
    }
  }
  return result;
}

/// A number, also with a percent sign or commas; nothing for other texts.
std::optional<double> number_of(std::string text) {
  std::erase_if(text, [](char c) { return c == '%' || c == ',' || c == ' '; });
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

bool relaxed_same(const std::string& guess, const std::string& answer) {
  constexpr double kAllowed = 0.05;
  const auto own = number_of(guess), right = number_of(answer);
  if (own && right) {
    return *right == 0 ? *own == 0 : std::abs(*own - *right) <= kAllowed * std::abs(*right);
  }
  return words_of(guess, ".-") == words_of(answer, ".-");
}

}  // namespace

std::vector<std::string> words_of(const std::string& text, std::string_view kept) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char each : text) {
    const char c = small(each);
    const bool letter = is_letter(c) || kept.find(c) != std::string_view::npos;
    if (letter && !inside) {
      words.emplace_back();
    }
    if (letter) {
      words.back() += c;
    }
    inside = letter;
  }
  return words;
}

/// Measures a guess against the answers of several people, each left out once.
double vqa_accuracy(const std::string& guess, const std::vector<std::string>& answers) {
  const std::string own = vqa_text(guess);
  std::vector<double> same;
  for (const std::string& answer : answers) {
    same.push_back(vqa_text(answer) == own ? 1 : 0);
  }
  double all = 0, sum = 0;
  for (const double each : same) {
    all += each;
  }
  if (answers.size() == 1) {
    return all;
  }
  for (const double each : same) {
    sum += std::min(1.0, (all - each) / 3);
  }
  return answers.empty() ? 0 : sum / static_cast<double>(answers.size());
}

double relaxed_accuracy(const std::string& guess, const std::vector<std::string>& answers) {
  return std::ranges::any_of(answers,
                             [&](const std::string& each) { return relaxed_same(guess, each); })
             ? 1
             : 0;
}

}  // namespace mpitron::inference
