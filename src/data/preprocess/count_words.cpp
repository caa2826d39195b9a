#include "data/preprocess/count_words.h"

#include "data/index/ordered_pipeline.h"
#include "data/preprocess/document_reader.h"
#include "data/preprocess/json_text.h"
#include "data/preprocess/progress.h"
#include "utils/error.h"

// Words of a corpus with their counts, from which `mpitron tokenizer train` learns. Each thread
// counts for itself; the sums do not depend on who counted what.

namespace mpitron::data {
namespace {

struct Counter {
  JsonTextParser parser;
  tokenizers::WordCounts counts;

  void count(const DocumentBatch& batch, const std::string& key) {
    for (const RawDocument& document : batch.documents) {
      try {
        if (!batch.json) {
          counts.add_text(document.text);
          continue;
        }
        for (const std::string_view text : parser.parse(document.text, {&key, 1})[0]) {
          counts.add_text(text);
        }
      } catch (const Error& error) {
        throw_data("{}", batch.complaint(document, error.what()));
      }
    }
  }
};

}  // namespace

tokenizers::WordCounts count_words(const std::vector<std::string>& files, const std::string& key,
                                   int workers) {
  DocumentReader reader(files, TextDocuments::paragraphs);
  Progress progress("count words", reader.total_bytes(), 1);
  std::vector<Counter> counters(static_cast<std::size_t>(workers));
  Index documents = 0;
  Index bytes = 0;
  OrderedPipeline<DocumentBatch>(workers).run(
      [&](DocumentBatch& batch) { return reader.next(batch); },
      [&](int worker, DocumentBatch& batch) {
        counters[static_cast<std::size_t>(worker)].count(batch, key);
      },
      [&](DocumentBatch& batch) {
        documents += static_cast<Index>(batch.documents.size());
        bytes += batch.file_bytes;
        progress.update(documents, bytes);
      });
  for (std::size_t i = 1; i < counters.size(); ++i) {
    counters[0].counts.add(counters[i].counts);
  }
  return std::move(counters[0].counts);
}

}  // namespace mpitron::data
