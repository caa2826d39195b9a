#include "tokenizers/text/charsmap.h"

#include "utils/error.h"

// SentencePiece's precompiled_charsmap: four bytes with the size of a darts-clone double array (Aoe
// 1989), its units, then zero-terminated replacements. Files come from anywhere, so every step
// checks its index.

namespace mpitron::tokenizers {
namespace {

/// Fields of a darts-clone unit: bit 8 has_leaf, bits 0 to 7 and 31 label, bits 10 to 30 offset,
/// shifted by 8 where bit 9 is set; a leaf holds its value in 31 bits.
bool has_leaf(std::uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
std::uint32_t value(std::uint32_t unit) {
  return unit & 0x7FFFFFFF;
}
std::uint32_t label(std::uint32_t unit) {
  return unit & 0x800000FF;
}
std::uint32_t offset(std::uint32_t unit) {
  return unit >> 10 << ((unit & 0x200) >> 6);
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return number;
}

}  // namespace

CharsMap::CharsMap(std::string_view blob) {
  if (blob.empty()) {
    return;
  }
  if (blob.size() < 8) {
    throw_data("the precompiled charsmap has only {} bytes", blob.size());
  }
  const std::size_t bytes = little_endian(blob);
  blob.remove_prefix(4);
  if (bytes < 4 || bytes % 4 != 0 || bytes >= blob.size()) {
    throw_data("the precompiled charsmap of {} bytes states {} bytes of rules", blob.size(), bytes);
  }
  for (std::size_t at = 0; at < bytes; at += 4) {
    units_.push_back(little_endian(blob.substr(at)));
  }
  replacements_ = blob.substr(bytes);
}

/// Moves `node` (the base of the present unit's children) along one byte; returns the unit reached,
/// or nothing.
std::optional<std::uint32_t> CharsMap::step(std::uint32_t& node, char byte) const {
  const auto next = node ^ static_cast<unsigned char>(byte);
  if (next >= units_.size() || label(units_[next]) != static_cast<unsigned char>(byte)) {
    return std::nullopt;
  }
  node = next ^ offset(units_[next]);
  return units_[next];
}

/// Walks along the text and remembers the last rule that ended; with `first_only` the first one.
std::optional<CharsMap::Match> CharsMap::find(std::string_view text, bool first_only) const {
  std::optional<Match> match;
  if (units_.empty()) {
    return match;
  }
  std::uint32_t node = offset(units_[0]);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::optional<std::uint32_t> unit = step(node, text[i]);
    if (!unit) {
      break;
    }
    if (has_leaf(*unit) && node < units_.size()) {
      const std::uint32_t at = value(units_[node]);
      if (at < replacements_.size()) {
        const std::string_view rest = std::string_view(replacements_).substr(at);
        match = {i + 1, rest.substr(0, rest.find('\0'))};
      }
      if (first_only) {
        break;
      }
    }
  }
  return match;
}

bool CharsMap::concerns_ascii(char first) const {
  if (units_.empty()) {
    return false;
  }
  std::uint32_t node = offset(units_[0]);
  const std::optional<std::uint32_t> unit = step(node, first);
  if (!unit || has_leaf(*unit)) {
    return unit.has_value();
  }
  for (char second = 0; second >= 0 && second < 127; ++second) {
    std::uint32_t child = node;
    if (step(child, second)) {
      return true;
    }
  }
  return false;
}

}  // namespace mpitron::tokenizers
