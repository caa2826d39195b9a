#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpitron::tokenizers {

/// Byte strings and their values as a double array (Aoe 1989): one load per byte. The children of a
/// node lie at base ^ byte, so that they share one block of 256 units.
class Trie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr std::int32_t kNoValue = -1;

  /// A key that was found: its value and length.
  struct Match {
    std::int32_t value = kNoValue;
    std::size_t bytes = 0;
  };

  /// Values are >= 0. Keys need no order; of equal keys the last one counts, and an empty key none.
  explicit Trie(std::vector<std::pair<std::string_view, std::int32_t>> entries = {});

  /// Moves to the child of one byte; false (and `node` unchanged) where no key goes on so.
  bool step(Node& node, char byte) const {
    const Node next = units_[node].base ^ static_cast<unsigned char>(byte);
    if (units_[next].parent != node || next == kRoot) {
      return false;
    }
    node = next;
    return true;
  }

  /// Returns kNoValue where no key ends.
  std::int32_t value(Node node) const { return units_[node].value; }

  /// Returns the longest key that `text` starts with, going on from `node`.
  Match longest(std::string_view text, Node node = kRoot) const;

  /// Returns the value of exactly this key, or kNoValue.
  std::int32_t find(std::string_view key) const;

  bool empty() const { return size_ == 0; }

 private:
  friend class TrieBuilder;
  static constexpr Node kFree = ~Node{0};

  struct Unit {
    Node base = 0;
    Node parent = kFree;
    std::int32_t value = kNoValue;
  };

  std::vector<Unit> units_;
  std::size_t size_ = 0;
};

}  // namespace mpitron::tokenizers
