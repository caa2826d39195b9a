#pragma once
#include <string>
#include <vector>

namespace mpitron::io {

/// Names of corpora that were probably meant by a prefix without `.idx`: the prefix without an
/// ending that it must not have, else those beside it that continue it (`wiki` for
/// `wiki_text_document`), at most three in the order of their names.
std::vector<std::string> similar_corpora(const std::string& prefix);

}  // namespace mpitron::io
