#pragma once
#include <functional>

#include "inference/grammar/code_points.h"

namespace mpitron::inference {

/// How a set of characters is written: as its UTF-8, or as it stands in a JSON text.
using WriteCharacters = std::function<Pattern(const CodePoints&)>;

/// The language of a regular expression that a whole text must match: literals, classes, groups,
/// alternatives, counts, anchors at the ends. Error(data) with the position for what has no
/// automaton (\b, lookaround, references) or is not known.
Pattern regex_pattern(std::string_view regex, const WriteCharacters& write);
/// The same for texts that hold a match somewhere, as JSON schemas mean it.
Pattern regex_search_pattern(std::string_view regex, const WriteCharacters& write);
/// As its UTF-8.
Pattern regex_pattern(std::string_view regex);

}  // namespace mpitron::inference
