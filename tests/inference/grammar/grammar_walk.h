#pragma once
#include <random>
#include <string>

#include "inference/grammar/byte_automaton.h"
#include "inference/grammar/regex_parser.h"
#include "inference/grammar/schema_compiler.h"

namespace mpitron::test {

inline std::shared_ptr<const inference::ByteNetwork> network_of(const inference::Grammar& grammar) {
  return std::make_shared<const inference::ByteNetwork>(grammar);
}

/// Whether a text belongs to a language.
class Language {
 public:
  explicit Language(const inference::Grammar& grammar) : automaton_(network_of(grammar)) {}
  static Language regex(const std::string& text) {
    return Language({{inference::regex_pattern(text)}});
  }
  static Language schema(const std::string& text) {
    return Language(inference::schema_grammar(text));
  }

  bool has(std::string_view text) {
    inference::ByteAutomaton::State state = automaton_.start();
    for (const char c : text) {
      state = automaton_.next(state, static_cast<unsigned char>(c));
      if (state == inference::ByteAutomaton::kDead) {
        return false;
      }
    }
    return automaton_.may_end(state);
  }

  /// A text of the language, drawn byte by byte; it ends as soon as it may once it has `size`
  /// bytes. Nothing where `most` bytes were not enough.
  std::optional<std::string> draw(std::mt19937_64& random, std::size_t size, std::size_t most) {
    std::string text;
    inference::ByteAutomaton::State state = automaton_.start();
    while (text.size() < most) {
      std::vector<unsigned char> bytes;
      for (int byte = 0; byte < 256; ++byte) {
        if (automaton_.next(state, static_cast<unsigned char>(byte)) >= 0) {
          bytes.push_back(static_cast<unsigned char>(byte));
        }
      }
      const bool may_end = automaton_.may_end(state);
      if (bytes.empty() || (may_end && (text.size() >= size || random() % 4 == 0))) {
        return may_end ? std::optional(text) : std::optional<std::string>();
      }
      // Ends of JSON's parts are likelier, so that texts do end.
      std::vector<unsigned char> closing;
      for (const unsigned char byte : bytes) {
        if (std::string_view("\"]},:").find(static_cast<char>(byte)) != std::string_view::npos) {
          closing.push_back(byte);
        }
      }
      const auto& from = !closing.empty() && random() % 2 == 0 ? closing : bytes;
      const unsigned char byte = from[random() % from.size()];
      text += static_cast<char>(byte);
      state = automaton_.next(state, byte);
    }
    return std::nullopt;
  }

 private:
  inference::ByteAutomaton automaton_;
};

}  // namespace mpitron::test
