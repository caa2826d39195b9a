#pragma once
#include <string>
#include <vector>

#include "io/tokens/token_file.h"
#include "utils/numbers/shape.h"

namespace mpitron::corpus {

/// The number of documents whose tokens lie in [from, to).
struct LengthBucket {
  Index from = 0;
  Index to = 0;
  Index documents = 0;
};

/// Figures of a tokenised corpus.
struct DatasetReport {
  std::string prefix;
  std::string type;
  std::string tokenizer_hash;  // empty: the corpus does not tell
  Index documents = 0;
  Index empty_documents = 0;
  Index sequences = 0;
  Index tokens = 0;
  Index bytes = 0;                  // of tokens
  Index shortest = 0, longest = 0;  // tokens of a document that is not empty
  Index median = 0, percentile_90 = 0;
  std::vector<LengthBucket> histogram;  // powers of two, from the shortest to the longest
};

/// Reads the index only. Error(data) where it is damaged.
DatasetReport inspect_dataset(const io::TokenFile& corpus);

/// Returns all tokens of a document. Error(usage) where there is none of that number.
std::vector<std::int64_t> document_tokens(const io::TokenFile& corpus, Index document);

/// Returns one figure a line for people, and the histogram as bars.
std::string to_text(const DatasetReport& report);
std::string to_json(const DatasetReport& report);

}  // namespace mpitron::corpus
