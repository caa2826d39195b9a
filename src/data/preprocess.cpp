#include "data/preprocess.h"

#include <filesystem>
#include <limits>
#include <set>

#include "data/json_text.h"
#include "data/ordered_pipeline.h"
#include "data/output_lock.h"
#include "data/progress.h"
#include "io/token_file_writer.h"
#include "utils/error.h"

namespace mpitron::data {
namespace {

struct Batch {
  DocumentBatch raw;
  std::vector<io::TokenBlock> keys;
};

// What one thread needs to encode.
class Encoder {
 public:
  Encoder(const tokenizers::Tokenizer& tokenizer, const PreprocessOptions& options)
      : tokenizer_(tokenizer),
        options_(options),
        type_(io::token_type_for(tokenizer.vocab_size())),
        cache_(tokenizer.make_cache()) {}

  void encode(Batch& batch) {
    batch.keys.resize(options_.json_keys.size(), io::TokenBlock(type_));
    for (io::TokenBlock& key : batch.keys)
      key.clear();
    for (const RawDocument& document : batch.raw.documents) {
      try {
        encode_document(batch, document);
      } catch (const Error& error) {
        throw_data("{}:{}: document at byte {}: {}", *batch.raw.file, document.line,
                   document.offset, error.what());
      }
    }
  }

 private:
  void encode_document(Batch& batch, const RawDocument& document) {
    if (!batch.raw.json) {
      const std::string_view text[] = {document.text};
      encode_texts(text, batch.keys[0]);
      return;
    }
    const auto texts = parser_.parse(document.text, options_.json_keys);
    for (std::size_t k = 0; k < batch.keys.size(); ++k)
      encode_texts(texts[k], batch.keys[k]);
  }

  // The ids of one document stay in the processor's cache until they lie in the block in the file's
  // type.
  void encode_texts(std::span<const std::string_view> texts, io::TokenBlock& key) {
    ids_.clear();
    lengths_.clear();
    for (const std::string_view text : texts) {
      const std::size_t before = ids_.size();
      tokenizer_.encode(text, *cache_, ids_);
      const std::size_t length = ids_.size() - before;
      if (length >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw_data("{} tokens in one text; the file format holds at most {}", length,
                   std::numeric_limits<std::int32_t>::max() - 1);
      }
      if (length > 0) {
        lengths_.push_back(static_cast<std::int32_t>(length));
      }
    }
    if (options_.append_eod && !lengths_.empty()) {
      ids_.push_back(tokenizer_.eod());
      ++lengths_.back();
    }
    key.add_document(ids_, lengths_);
  }

  const tokenizers::Tokenizer& tokenizer_;
  const PreprocessOptions& options_;
  io::TokenType type_;
  std::unique_ptr<tokenizers::Tokenizer::Cache> cache_;
  JsonTextParser parser_;
  tokenizers::TokenIds ids_;
  std::vector<std::int32_t> lengths_;
};

class Output {
 public:
  Output(const std::vector<std::string>& prefixes, io::TokenType type) {
    for (const std::string& prefix : prefixes)
      locks_.emplace_back(prefix);
    for (const std::string& prefix : prefixes)
      files_.push_back(std::make_unique<io::TokenFileWriter>(prefix, type));
  }

  void write(const Batch& batch, PreprocessReport& report) {
    for (std::size_t k = 0; k < files_.size(); ++k) {
      const io::TokenBlock& key = batch.keys[k];
      files_[k]->append(key);
      report.tokens += key.token_count();
      report.empty_documents += key.empty_document_count();
    }
    report.documents += static_cast<Index>(batch.raw.documents.size());
    report.blank_lines += batch.raw.blank_lines;
    report.bytes += batch.raw.file_bytes;
  }

  void commit() {
    for (const auto& file : files_)
      file->commit();
  }

 private:
  std::vector<OutputLock> locks_;
  std::vector<std::unique_ptr<io::TokenFileWriter>> files_;
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
  for (const std::string& input : options.inputs) {
    if (options.json_keys.size() > 1 && std::filesystem::path(input).extension() == ".txt") {
      throw_usage("--json-keys names {} keys, but --input {} is plain text, which has one",
                  options.json_keys.size(), input);
    }
  }
}

/// False at the end of the input. Asks whether to stop behind the reading: a pipe may end because
/// the signal that stops this run has ended the program at its other end.
bool next_batch(DocumentReader& reader, Batch& batch, const PreprocessOptions& options) {
  const bool more = reader.next(batch.raw);
  if (options.stop && options.stop()) {
    throw Error(ExitCode::interrupted_unsaved, "preprocess was stopped; nothing was written");
  }
  return more;
}

}  // namespace

PreprocessReport preprocess(const tokenizers::Tokenizer& tokenizer,
                            const PreprocessOptions& options) {
  check_options(options);
  DocumentReader reader(options.inputs, options.text_documents, options.batch_bytes, options.stop);
  PreprocessReport report;
  for (const std::string& key : options.json_keys)
    report.prefixes.push_back(fmt::format("{}_{}_document", options.output_prefix, key));
  Output output(report.prefixes, io::token_type_for(tokenizer.vocab_size()));
  std::vector<Encoder> encoders;
  for (int worker = 0; worker < options.workers; ++worker)
    encoders.emplace_back(tokenizer, options);
  Progress progress("preprocess", reader.total_bytes(), options.log_interval);
  OrderedPipeline<Batch>(options.workers)
      .run([&](Batch& batch) { return next_batch(reader, batch, options); },
           [&](int worker, Batch& batch) {
             encoders[static_cast<std::size_t>(worker)].encode(batch);
           },
           [&](Batch& batch) {
             output.write(batch, report);
             progress.update(report.documents, report.bytes);
           });
  output.commit();
  report.seconds = progress.seconds();
  return report;
}

}  // namespace mpitron::data
