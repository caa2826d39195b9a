#include "inference/tasks/image_answers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

// Measures of answers about images, each as its benchmark's own script computes it: VQA's vote of
// ten people, ChartQA's five percent, CIDEr's weighted n-grams.

namespace mpitron::inference {
namespace {

using Captions = std::vector<std::pair<std::string, std::vector<std::string>>>;

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (static_cast<unsigned char>(c) > 127);
}

/// Runs of letters and digits in small letters; characters of `kept` count as letters.
std::vector<std::string> words_of(const std::string& text, std::string_view kept = "") {
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

// Of CIDEr-D:
constexpr std::size_t kLongestWordPiece = 4;  // words of a piece
using Piece = std::vector<std::string>;
using Counts = std::map<Piece, double>;

Counts count_pieces(const std::string& text) {
  const std::vector<std::string> words = words_of(text, "'");
  Counts counts;
  for (std::size_t size = 1; size <= kLongestWordPiece; ++size) {
    for (std::size_t begin = 0; begin + size <= words.size(); ++begin) {
      const auto first = words.begin() + static_cast<std::ptrdiff_t>(begin);
      ++counts[Piece(first, first + static_cast<std::ptrdiff_t>(size))];
    }
  }
  return counts;
}

/// Counts times how rare a piece is, by the length of the pieces.
struct Weights {
  std::array<std::map<Piece, double>, kLongestWordPiece> pieces;
  std::array<double, kLongestWordPiece> lengths{};  // of the vectors
  double words = 0;                                 // coco-caption counts pieces of two words

  Weights(const Counts& counts, const Counts& documents, double images) {
    for (const auto& [piece, count] : counts) {
      const auto seen = documents.find(piece);
      const double in = seen == documents.end() ? 1 : std::max(1.0, seen->second);
      const std::size_t place = piece.size() - 1;
      const double weight = count * (std::log(images) - std::log(in));
      pieces[place][piece] = weight;
      lengths[place] += weight * weight;
      words += place == 1 ? count : 0;
    }
    for (double& length : lengths) {
      length = std::sqrt(length);
    }
  }
};

/// Mean over the lengths of pieces, with what a caption of another length loses.
double agreement(const Weights& guess, const Weights& answer) {
  constexpr double kSigma = 6;
  double sum = 0;
  for (std::size_t place = 0; place < kLongestWordPiece; ++place) {
    double product = 0;
    for (const auto& [piece, weight] : guess.pieces[place]) {
      const auto other = answer.pieces[place].find(piece);
      if (other != answer.pieces[place].end()) {
        product += std::min(weight, other->second) * other->second;
      }
    }
    const double length = guess.lengths[place] * answer.lengths[place];
    sum += length > 0 ? product / length : 0;
  }
  const double apart = guess.words - answer.words;
  return sum / kLongestWordPiece * std::exp(-apart * apart / (2 * kSigma * kSigma));
}

}  // namespace

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

/// Measures captions by CIDEr (Vedantam et al. 2015): n-grams weighted by how few images they name.
double cider(const Captions& captions) {
  Counts documents;  // images in whose references a piece is
  for (const auto& [guess, references] : captions) {
    std::set<Piece> seen;
    for (const std::string& reference : references) {
      for (const auto& [piece, count] : count_pieces(reference)) {
        seen.insert(piece);
      }
    }
    for (const Piece& piece : seen) {
      ++documents[piece];
    }
  }
  const auto images = static_cast<double>(captions.size());
  double sum = 0;
  for (const auto& [guess, references] : captions) {
    const Weights own(count_pieces(guess), documents, images);
    double of_image = 0;
    for (const std::string& reference : references) {
      of_image += agreement(own, Weights(count_pieces(reference), documents, images));
    }
    sum += references.empty() ? 0 : 10 * of_image / static_cast<double>(references.size());
  }
  return captions.empty() ? 0 : sum / images;
}

}  // namespace mpitron::inference
