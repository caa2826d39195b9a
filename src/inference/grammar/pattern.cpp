// Builds patterns. A sequence or choice of one part is that part, so that trees of generated
// schemas stay shallow.
#include "inference/grammar/pattern.h"

namespace mpitron::inference {

Pattern Pattern::of(ByteSet bytes) {
  return Pattern(Node{.kind = Kind::bytes, .bytes = bytes});
}

Pattern Pattern::text(std::string_view text) {
  std::vector<Pattern> parts;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    parts.push_back(of(ByteSet(byte, byte)));
  }
  return sequence(std::move(parts));
}

Pattern Pattern::sequence(std::vector<Pattern> parts) {
  if (parts.size() == 1) {
    return parts.front();
  }
  return Pattern(Node{.kind = Kind::sequence, .parts = std::move(parts)});
}

Pattern Pattern::choice(std::vector<Pattern> parts) {
  if (parts.size() == 1) {
    return parts.front();
  }
  return Pattern(Node{.kind = Kind::choice, .parts = std::move(parts)});
}

Pattern Pattern::repeat(Pattern part, std::int64_t least, std::int64_t most) {
  return Pattern(
      Node{.kind = Kind::repeat, .parts = {std::move(part)}, .least = least, .most = most});
}

Pattern Pattern::rule(std::size_t number) {
  return Pattern(Node{.kind = Kind::rule, .number = number});
}

}  // namespace mpitron::inference
