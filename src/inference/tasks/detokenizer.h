#pragma once
#include <string>

namespace mpitron::inference {

/// Undoes the word splitting of WikiText, as the reference's zero-shot tasks do before they measure
/// perplexity per word.
std::string detokenize_wikitext(std::string text);
/// Undoes the word splitting of the Penn Treebank.
std::string detokenize_ptb(std::string text);
/// Undoes the splitting of the corpus that `path` names: the first of ptb, wiki and lambada (which
/// needs none) that it contains. Error(usage) where it contains none of them.
std::string detokenize_corpus(const std::string& path, std::string text);

}  // namespace mpitron::inference
