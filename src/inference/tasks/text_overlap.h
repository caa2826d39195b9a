#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpitron::inference {

/// How far a text has the words of another: the harmonic mean of the shares of common words, each
/// counted as often as both have it. Lower case, without punctuation, "a", "an" and "the" (Miller
/// et al. 2017, as Megatron-LM's dialogue prompting measures it). Nothing without words in
/// `answer`.
std::optional<double> word_f1(const std::string& guess, const std::string& answer);

/// BLEU with up to four words in a row over a corpus of (guess, answer), without smoothing
/// (Papineni et al. 2002); words as above, articles count.
double corpus_bleu(const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace mpitron::inference
