#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "inference/tasks/image_answers.h"

// CIDEr, as its own script computes it: weighted n-grams that a caption shares with those of
// people.

namespace mpitron::inference {
namespace {

using Captions = std::vector<std::pair<std::string, std::vector<std::string>>>;

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
