#pragma once
#include <string>

namespace mpitron::benchmarks {

/// Words of Zipf's frequencies; the larger the vocabulary, the rarer the words.
std::string synthetic_text(std::size_t distinct, std::size_t bytes);

/// The text of a file, with what is not UTF-8 replaced; without a path 4 MB of a synthetic one of
/// `distinct` words, which is said under the text's name. Throws what read_file does.
std::string load_text(const std::string& path, const std::string& name, std::size_t distinct);

}  // namespace mpitron::benchmarks
