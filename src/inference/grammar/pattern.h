#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace mpitron::inference {

/// A set of bytes.
class ByteSet {
 public:
  ByteSet() = default;
  ByteSet(unsigned char first, unsigned char last) {
    for (unsigned byte = first; byte <= last; ++byte) {
      add(static_cast<unsigned char>(byte));
    }
  }
  void add(unsigned char byte) { words_[byte / 64] |= std::uint64_t{1} << byte % 64; }
  bool has(unsigned char byte) const { return (words_[byte / 64] >> byte % 64 & 1) != 0; }

 private:
  std::array<std::uint64_t, 4> words_{};
};

/// Holds a language of byte strings as a tree: what a regular expression or a schema allows. Trees
/// are shared and never change.
class Pattern {
 public:
  enum class Kind { bytes, sequence, choice, repeat, rule };
  static constexpr std::int64_t kEndless = -1;

  /// Makes the empty string.
  Pattern() : Pattern(Kind::sequence) {}
  static Pattern of(ByteSet bytes);
  static Pattern text(std::string_view text);
  /// Make one after the other, and one of them; a choice of nothing is the empty language.
  static Pattern sequence(std::vector<Pattern> parts);
  static Pattern choice(std::vector<Pattern> parts);
  /// Repeats `least` to `most` times; kEndless: any number.
  static Pattern repeat(Pattern part, std::int64_t least, std::int64_t most);
  static Pattern optional(Pattern part) { return repeat(std::move(part), 0, 1); }
  /// Refers to the rule of this number: for languages that hold themselves.
  static Pattern rule(std::size_t number);

  Kind kind() const { return node_->kind; }
  const ByteSet& bytes() const { return node_->bytes; }
  const std::vector<Pattern>& parts() const { return node_->parts; }
  std::int64_t least() const { return node_->least; }
  std::int64_t most() const { return node_->most; }
  std::size_t number() const { return node_->number; }

 private:
  struct Node {
    Kind kind;
    ByteSet bytes{};
    std::vector<Pattern> parts{};
    std::int64_t least = 0, most = 0;
    std::size_t number = 0;
  };
  explicit Pattern(Kind kind) : node_(std::make_shared<const Node>(Node{.kind = kind})) {}
  explicit Pattern(Node node) : node_(std::make_shared<const Node>(std::move(node))) {}

  std::shared_ptr<const Node> node_;
};

/// A whole language: the pattern of each rule, the first of which is the language's.
struct Grammar {
  std::vector<Pattern> rules;
};

}  // namespace mpitron::inference
