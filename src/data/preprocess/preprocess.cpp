#include "data/preprocess/preprocess.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "data/index/input_files.h"
#include "data/index/ordered_pipeline.h"
#include "data/preprocess/json_text.h"
#include "data/preprocess/preprocess_output.h"
#include "data/preprocess/progress.h"
#include "data/preprocess/sentence_splitter.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/text/hash.h"

// Tokenises a corpus: batches of documents go to all workers and are written in the order of the
// input; what is in flight is bounded, so memory does not grow with the corpus.

namespace mpitron::data {
namespace {

constexpr Index kMaxParts = 256;      // keys times partitions: three open files each
constexpr Index kMaxComplaints = 10;  // lines about single documents
constexpr std::size_t kSplitterCharacters = 1'000'000;  // Megatron's limit on one call

/// Documents that a worker encodes at a time, and what became of them.
struct Batch {
  DocumentBatch raw;
  std::vector<io::TokenBlock> blocks;   // [partition, key]
  std::vector<std::string> complaints;  // of documents that are left out
};

/// Encodes batches on one thread: it has the cache, the parser and the buffers of that thread.
class Encoder {
 public:
  Encoder(const tokenizers::Tokenizer& tokenizer, const PreprocessOptions& options)
      : tokenizer_(tokenizer),
        options_(options),
        type_(io::token_type_for(tokenizer.vocab_size())),
        cache_(tokenizer.make_cache()) {
    if (options.split_sentences) {
      splitter_.emplace(options.language,
                        options.keep_newlines ? BetweenSentences::kept : BetweenSentences::dropped);
    }
  }

  void encode(Batch& batch) {
    const std::size_t keys = options_.json_keys.size();
    batch.blocks.resize(keys * static_cast<std::size_t>(options_.lanes()), io::TokenBlock(type_));
    for (io::TokenBlock& block : batch.blocks) {
      block.clear();
    }
    batch.complaints.clear();
    Index number = batch.raw.first_document;
    for (const RawDocument& document : batch.raw.documents) {
      /// Documents are dealt out by their numbers in the input, also those that are left out: a bad
      /// line moves no other document to another partition.
      const auto lane = static_cast<std::size_t>(number++ % options_.lanes());
      try {
        encode_document(batch.raw, document, {&batch.blocks[lane * keys], keys});
      } catch (const Error& error) {
        std::string complaint = batch.raw.complaint(document, error.what());
        if (!options_.skip_bad_lines) {
          throw_data("{}", complaint);
        }
        batch.complaints.push_back(std::move(complaint));
      }
    }
  }

 private:
  /// Encodes a document. All keys are read before the first one is added: nothing of a document
  /// that cannot be read gets into the blocks.
  void encode_document(const DocumentBatch& raw, const RawDocument& document,
                       std::span<io::TokenBlock> blocks) {
    texts_.resize(blocks.size());
    if (raw.json) {
      const auto texts = parser_.parse(document.text, options_.json_keys);
      std::copy(texts.begin(), texts.end(), texts_.begin());
    } else {
      check_no_nul(document.text);
      texts_[0] = {document.text};
    }
    if (splitter_) {
      split_texts();
    }
    encoded_.resize(blocks.size());
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      encode_texts(texts_[k], encoded_[k]);
    }
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      blocks[k].add_document(encoded_[k].ids, encoded_[k].lengths);
    }
  }

  /// A hole in a file reads as NUL bytes, which would be tokens.
  static void check_no_nul(std::string_view text) {
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
      throw_data("a NUL byte at byte {} of the text: the file is no text, or has a hole", at);
    }
  }

  /// Replaces the texts of each key by their sentences; long texts are split in pieces of
  /// kSplitterCharacters, as in Megatron.
  void split_texts() {
    for (std::vector<std::string_view>& texts : texts_) {
      sentences_.clear();
      for (const std::string_view text : texts) {
        splitter_->split_long(text, kSplitterCharacters, sentences_);
      }
      texts.swap(sentences_);
    }
  }

  struct Encoded {
    tokenizers::TokenIds ids;
    std::vector<std::int32_t> lengths;
  };

  /// Encodes the texts of one key. The ids of one document stay in the processor's cache until they
  /// lie in the block in the file's type.
  void encode_texts(std::span<const std::string_view> texts, Encoded& out) {
    out.ids.clear();
    out.lengths.clear();
    for (const std::string_view text : texts) {
      const std::size_t before = out.ids.size();
      tokenizer_.encode(text, *cache_, out.ids);
      const std::size_t length = out.ids.size() - before;
      if (length >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw_data("{} tokens in one text; the file format holds at most {}", length,
                   std::numeric_limits<std::int32_t>::max() - 1);
      }
      if (length > 0) {
        out.lengths.push_back(static_cast<std::int32_t>(length));
      }
    }
    if (options_.append_eod && !out.lengths.empty()) {
      out.ids.push_back(tokenizer_.eod());
      ++out.lengths.back();
    }
  }

  const tokenizers::Tokenizer& tokenizer_;
  const PreprocessOptions& options_;
  io::TokenType type_;
  std::unique_ptr<tokenizers::Tokenizer::Cache> cache_;
  JsonTextParser parser_;
  std::optional<SentenceSplitter> splitter_;
  std::vector<std::vector<std::string_view>> texts_;  // of each key
  std::vector<std::string_view> sentences_;
  std::vector<Encoded> encoded_;  // of each key
};

void check_options(const PreprocessOptions& options) {
  if (options.inputs.empty()) {
    throw_usage("--input names no file");
  }
  if (options.workers < 1) {
    throw_usage("--workers {}: at least 1 is needed", options.workers);
  }
  const std::set<std::string> distinct(options.json_keys.begin(), options.json_keys.end());
  if (options.json_keys.empty() || distinct.size() != options.json_keys.size()) {
    throw_usage("--json-keys: one or more different keys are needed");
  }
  if (options.partitions < 1 || options.lanes() * std::ssize(options.json_keys) > kMaxParts) {
    throw_usage(
        "--partitions {} with {} keys: allowed are 1 to {} files at a time; --workers alone uses "
        "all cores",
        options.partitions, options.json_keys.size(), kMaxParts);
  }
  if (options.keep_newlines && !options.split_sentences) {
    throw_usage("--keep-newlines says what --split-sentences does; give both or none");
  }
}

/// Plain text has no keys, and goes under the only one.
void check_keys(const std::vector<std::string>& inputs, const PreprocessOptions& options) {
  for (const std::string& input : inputs) {
    if (options.json_keys.size() > 1 && names_plain_text(input)) {
      throw_usage("--json-keys names {} keys, but --input {} is plain text, which has one",
                  options.json_keys.size(), input);
    }
  }
}

/// Returns a hash of what makes a run the same run, so that it may go on with the work of an
/// earlier one. Empty where an input cannot be read again.
std::string identity(const tokenizers::Tokenizer& tokenizer, const PreprocessOptions& options,
                     const std::vector<std::string>& inputs) {
  std::string text = fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {}", tokenizer.fingerprint(), tokenizer.vocab_size(),
      tokenizer.eod(), options.append_eod, options.split_sentences, options.keep_newlines,
      options.language, options.lanes(), options.skip_bad_lines,
      static_cast<int>(options.text_documents), fmt::join(options.json_keys, "\n"));
  for (const std::string& input : inputs) {
    if (input == "-" || !std::filesystem::is_regular_file(input)) {
      return "";
    }
    text += fmt::format("\n{} {} {}", input, std::filesystem::file_size(input),
                        std::filesystem::last_write_time(input).time_since_epoch().count());
  }
  return hash128_hex(text);
}

/// Throws interrupted_unsaved; `preprocess` makes `interrupted` of it where a journal keeps the
/// work.
void throw_if_stopped(const PreprocessOptions& options) {
  if (options.stop && options.stop()) {
    throw Error(ExitCode::interrupted_unsaved, "preprocess was stopped; nothing was written");
  }
}

/// Reads a batch; false at the end of the input. Asks whether to stop behind the reading: a pipe
/// may end because the signal that stops this run has ended the program at its other end.
bool next_batch(DocumentReader& reader, Batch& batch, const PreprocessOptions& options) {
  bool more = false;
  try {
    more = reader.next(batch.raw);
  } catch (const Error&) {
    throw_if_stopped(options);
    throw;
  }
  throw_if_stopped(options);
  return more;
}

/// Adds a batch to the report, and warns of the first documents that were left out.
void count(const Batch& batch, PreprocessReport& report) {
  for (const std::string& complaint : batch.complaints) {
    if (++report.bad_lines <= kMaxComplaints) {
      log::warning("left out: {}{}", complaint,
                   report.bad_lines == kMaxComplaints ? "; more of them are only counted" : "");
    }
  }
  report.documents += std::ssize(batch.raw.documents) - std::ssize(batch.complaints);
  report.blank_lines += batch.raw.blank_lines;
  report.bytes += batch.raw.file_bytes;
}

/// Runs the pipeline: workers encode at once, and take turns in reading and in writing, which
/// follow the input's order.
void write_all(const tokenizers::Tokenizer& tokenizer, const PreprocessOptions& options,
               DocumentReader& reader, PreprocessOutput& output, PreprocessReport& report) {
  std::vector<Encoder> encoders;
  for (int worker = 0; worker < options.workers; ++worker) {
    encoders.emplace_back(tokenizer, options);
  }
  Progress progress("preprocess", reader.total_bytes(), options.log_interval);
  OrderedPipeline<Batch>(options.workers)
      .run([&](Batch& batch) { return next_batch(reader, batch, options); },
           [&](int worker, Batch& batch) {
             encoders[static_cast<std::size_t>(worker)].encode(batch);
           },
           [&](Batch& batch) {
             count(batch, report);
             output.write(batch.blocks, batch.raw.end);
             progress.update(report.documents, report.bytes);
           });
  // The thread that saw the input's end may have been ahead of the one that gets the signals.
  throw_if_stopped(options);
  output.commit();
  report.seconds = progress.seconds();
}

}  // namespace

/// Checks everything that the options alone tell before a file is opened.
PreprocessReport preprocess(const tokenizers::Tokenizer& tokenizer,
                            const PreprocessOptions& options) {
  check_options(options);
  const std::vector<std::string> inputs = find_input_files(options.inputs);
  check_keys(inputs, options);
  DocumentReader reader(inputs, options.text_documents, options.batch_bytes, options.stop);
  PreprocessReport report;
  for (const std::string& key : options.json_keys) {
    report.prefixes.push_back(fmt::format("{}_{}_{}", options.output_prefix, key,
                                          options.split_sentences ? "sentence" : "document"));
  }
  PreprocessOutput output(options, io::token_type_for(tokenizer.vocab_size()),
                          identity(tokenizer, options, inputs), report);
  reader.start_at(output.start());
  try {
    write_all(tokenizer, options, reader, output, report);
  } catch (const Error& error) {
    if (output.abandon() && error.code() == ExitCode::interrupted_unsaved) {
      throw Error(
          ExitCode::interrupted,
          fmt::format("preprocess was stopped behind {} documents; the same command goes on "
                      "from there",
                      report.documents));
    }
    throw;
  }
  return report;
}

}  // namespace mpitron::data
