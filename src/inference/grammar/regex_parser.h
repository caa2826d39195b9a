#pragma once
#include <functional>
#include <optional>

#include "inference/grammar/code_points.h"

namespace mpitron::inference {

/// How often a part stands in a text; Pattern::kEndless: any number of times.
struct Repetition {
  std::int64_t least, most;
};

/// Takes what counts the part before it off the front of `rest`: *, +, ?, {n}, {n,}, {,m} or {n,m}
/// with numbers up to 10000; nothing where none of these stands there. `fail(what)` throws.
std::optional<Repetition> take_repetition(std::string_view& rest,
                                          const std::function<void(std::string_view)>& fail);

/// Writes a set of characters: as its UTF-8, or as it stands in a JSON text.
using WriteCharacters = std::function<Pattern(const CodePoints&)>;

/// Returns the language of a regular expression that a whole text must match: literals, classes,
/// groups, alternatives, counts, anchors at the ends. Error(data) with the position for what has no
/// automaton (\b, lookaround, references) or is not known.
Pattern regex_pattern(std::string_view regex, const WriteCharacters& write);
/// Returns the language of texts that hold a match somewhere, as JSON schemas mean it.
Pattern regex_search_pattern(std::string_view regex, const WriteCharacters& write);
/// Writes characters as their UTF-8.
Pattern regex_pattern(std::string_view regex);

}  // namespace mpitron::inference
