#pragma once
#include <random>
#include <string>

namespace mpitron::corpus {

/// English-looking prose of `words` words, the same for the same seed.
inline std::string sample_text(unsigned seed, int words) {
  static constexpr const char* kWords[] = {
      "the",    "of",     "and",     "to",     "in",    "that",  "was",    "his",
      "with",   "for",    "they",    "river",  "stone", "light", "bridge", "winter",
      "garden", "letter", "morning", "voice",  "had",   "not",   "which",  "their",
      "would",  "market", "soldier", "window", "paper", "horse"};
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < words; ++i) {
    text += kWords[random() % 30];
    text += random() % 9 == 0 || i + 1 == words ? ". " : " ";
  }
  return text;
}

}  // namespace mpitron::corpus
