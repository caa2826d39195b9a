#pragma once
#include <functional>
#include <string>
#include <vector>

#include "data/preprocess/document_reader.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::data {

/// Options of `mpitron preprocess`, named after Megatron's flags.
struct PreprocessOptions {
  std::vector<std::string> inputs;
  std::string output_prefix;
  std::vector<std::string> json_keys = {"text"};
  bool append_eod = false;
  int workers = 1;
  Index log_interval = 1000;                                 // documents between two progress lines
  TextDocuments text_documents = TextDocuments::paragraphs;  // of `.txt` inputs
  std::function<bool()> stop;    // true ends the run; asked at each batch and before the commit
  bool split_sentences = false;  // each sentence is a sequence of its own
  bool keep_newlines = false;    // the white space behind a sentence belongs to it
  std::string language = "english";
  Index partitions = 1;  // documents are dealt out to them, then the partitions follow each other
  bool keep_sequential_samples = false;  // partitions get runs of documents: the input's order
  bool skip_bad_lines = false;           // count documents that cannot be read, and go on
  std::size_t batch_bytes = std::size_t{1} << 18;  // of input that a worker takes at a time
  Index journal_bytes = Index{256} << 20;          // of input between two entries of the journal

  /// Partitions whose order shows in the output.
  Index lanes() const { return keep_sequential_samples ? 1 : partitions; }
};

struct PreprocessReport {
  Index documents = 0;
  Index empty_documents = 0;  // without a token, summed over the keys
  Index blank_lines = 0;
  Index bad_lines = 0;  // left out (skip_bad_lines)
  Index tokens = 0;
  Index bytes = 0;  // read
  double seconds = 0;
  std::vector<std::string> prefixes;  // of the `.bin` and `.idx` files written, one for each key
};

/// Tokenises JSONL and text files into `{output_prefix}_{key}_document.{bin,idx}` (`_sentence`
/// where sentences are split), byte for byte as Megatron's preprocess_data does: documents in the
/// order of the input for any number of workers, a list of strings as one document of several
/// sequences, a text without tokens as a document without a sequence. Blank lines are skipped and
/// counted.
///
/// A run that was killed goes on where its journal says, and writes the same bytes. Pipes cannot be
/// read again, so a run that reads one keeps no journal. Memory does not grow with the corpus:
/// 4 * workers - 3 batches, each about six times batch_bytes (or six times its one longer
/// document); for each worker 12 MiB of cache and about twelve times its longest document; 3 MiB
/// for each key and partition.
///
/// Error(data) names file, line and byte; then there is no `.idx`. Where it was stopped:
/// Error(interrupted) if the same call goes on, Error(interrupted_unsaved) if no file of this run
/// is left.
PreprocessReport preprocess(const tokenizers::Tokenizer& tokenizer,
                            const PreprocessOptions& options);

}  // namespace mpitron::data
