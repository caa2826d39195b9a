#pragma once
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/ngram_filter.h"
#include "tokenizers/core/tokenizer.h"
#include "utils/numbers/shape.h"

namespace mpitron::corpus {

/// Outcomes for a document.
enum class Fate {
  kept,
  bad_line,       ///< no JSON object with a text
  url_malformed,  ///< the four of UrlFilter
  url_too_short,
  url_extension,
  url_domain,
  language,      ///< another one than wanted, or none that is known
  too_short,     ///< fewer tokens than wanted
  contaminated,  ///< nothing is left beside texts of tasks
};
inline constexpr std::size_t kFates = 9;
/// Returns the name in reports: "url_malformed", ...
std::string_view to_string(Fate fate);

/// Options of `mpitron clean`: the steps of Megatron's OpenWebText scripts, in their order.
struct CleanOptions {
  std::vector<std::string> inputs;
  std::string output;  // JSONL
  std::string text_key = "text";
  std::string url_key = "url";
  bool filter_urls = true;  // of documents that have one
  std::vector<std::string> more_domains;
  bool fix_text = true;
  std::string language = "en";                       // empty: any
  Index min_tokens = 128;                            // 0: any length
  const tokenizers::Tokenizer* tokenizer = nullptr;  // counts them; else GPT-2's words do
  std::vector<std::string> task_files;               // JSONL or text; their n-grams are cut out
  NgramOptions ngrams;
  std::string id_prefix;  // documents get "id": "PREFIX-0000000001"
  bool skip_bad_lines = false;
  int workers = 1;
  std::function<bool()> stop;
};

/// Counts of a run.
struct CleanReport {
  std::array<Index, kFates> fates{};
  Index documents = 0;  // read
  Index fixed = 0;      // whose text was repaired
  Index split = 0;      // cut into pieces by decontamination
  Index written = 0;    // documents and pieces
  Index bytes = 0;      // read
  Index bytes_written = 0;
  double seconds = 0;
};

/// Cleans a corpus of web texts into one JSONL file, in the order of the input for any number of
/// workers. Documents that nothing changes are written as they were read; other keys are kept. With
/// task files the input is read twice (no pipe). Memory does not grow with the corpus: for each of
/// 4 * workers - 3 batches of 256 KiB (or of one longer document) three times its text, and the
/// n-grams of the tasks. The output appears whole or not at all. Error(data) names file, line and
/// byte.
CleanReport clean(const CleanOptions& options);

}  // namespace mpitron::corpus
