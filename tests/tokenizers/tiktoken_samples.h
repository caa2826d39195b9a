#pragma once
#include <string>
#include <vector>

#include <fmt/format.h>

namespace mpitron::tokenizers {

/// The 256 bytes and some words.
inline std::vector<std::string> sample_ranks() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.emplace_back(1, static_cast<char>(byte));
  }
  for (int first = 'a'; first <= 'h'; ++first) {
    for (int second = 'a'; second <= 'h'; ++second) {
      tokens.push_back({static_cast<char>(first), static_cast<char>(second)});
    }
  }
  for (const char* word : {"bad", "dead", " a", "face", "\n\n"}) {
    tokens.emplace_back(word);
  }
  return tokens;
}

inline std::string base64_of(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

/// The vocabulary as Megatron reads it.
inline std::string tiktoken_json(const std::vector<std::string>& tokens) {
  std::string json = "[";
  for (std::size_t rank = 0; rank < tokens.size(); ++rank) {
    json += fmt::format("{}{{\"rank\": {}, \"token_bytes\": \"{}\", \"token_str\": \"\"}}",
                        rank == 0 ? "" : ",\n", rank, base64_of(tokens[rank]));
  }
  return json + "]\n";
}

/// The same as a `.tiktoken` file.
inline std::string tiktoken_lines(const std::vector<std::string>& tokens) {
  std::string lines;
  for (std::size_t rank = 0; rank < tokens.size(); ++rank) {
    lines += fmt::format("{} {}\n", base64_of(tokens[rank]), rank);
  }
  return lines;
}

}  // namespace mpitron::tokenizers
