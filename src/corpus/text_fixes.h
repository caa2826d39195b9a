#pragma once
#include <string>
#include <string_view>

namespace mpitron::corpus {

/// Repairs what web texts suffer most (a part of what the program ftfy does): UTF-8 that was read
/// as Windows-1252 ("cafÃ©", also several times over), HTML entities in a text without tags,
/// terminal escapes, control characters, all kinds of line ends, curly quotes, ligatures and
/// full-width Latin. `text` must be UTF-8. A fixed text is fixed: fixing it again changes nothing.
std::string fix_text(std::string_view text);

}  // namespace mpitron::corpus
