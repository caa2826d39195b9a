#include "tokenizers/text/marker_finder.h"

#include <algorithm>

// A search for special tokens: bytes that begin none are passed over without the trie, by memchr
// where all markers begin with the same byte, which mostly is `<`.

namespace mpitron::tokenizers {
namespace {

/// Inserts markers from the last to the first: of equal ones the first counts, and the trie keeps
/// the last.
Trie trie_of_markers(const std::vector<std::string>& markers) {
  std::vector<std::pair<std::string_view, std::int32_t>> entries;
  for (std::size_t i = markers.size(); i-- > 0;) {
    entries.emplace_back(markers[i], static_cast<std::int32_t>(i));
  }
  return Trie(std::move(entries));
}

}  // namespace

MarkerFinder::MarkerFinder(const std::vector<std::string>& markers, Tie tie)
    : tie_(tie), trie_(trie_of_markers(markers)) {
  for (const std::string& marker : markers) {
    if (!marker.empty()) {
      starts_[static_cast<unsigned char>(marker.front())] = true;
    }
  }
  if (std::count(starts_.begin(), starts_.end(), true) == 1) {
    only_start_ =
        static_cast<char>(std::find(starts_.begin(), starts_.end(), true) - starts_.begin());
  }
}

std::optional<MarkerFinder::Hit> MarkerFinder::next(std::string_view text, std::size_t from) const {
  if (trie_.empty()) {
    return std::nullopt;
  }
  for (std::size_t at = from; at < text.size(); ++at) {
    if (only_start_) {
      at = text.find(*only_start_, at);
      if (at == std::string_view::npos) {
        break;
      }
    } else if (!starts_[static_cast<unsigned char>(text[at])]) {
      continue;
    }
    std::optional<Hit> best;
    Trie::Node node = Trie::kRoot;
    for (std::size_t end = at; end < text.size() && trie_.step(node, text[end]); ++end) {
      const std::int32_t marker = trie_.value(node);
      const auto index = static_cast<std::size_t>(marker);
      if (marker != Trie::kNoValue && (!best || tie_ == Tie::longest || index < best->marker)) {
        best = Hit{at, end + 1 - at, index};
      }
    }
    if (best) {
      return best;
    }
  }
  return std::nullopt;
}

}  // namespace mpitron::tokenizers
