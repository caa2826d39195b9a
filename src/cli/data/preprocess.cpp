#include "data/preprocess/preprocess.h"

#include "cli/commands.h"
#include "cli/data/tokenizer_flags.h"
#include "cli/flags.h"
#include "data/preprocess/json_text.h"
#include "data/preprocess/sentence_words.h"
#include "train/run/exit_signals.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron preprocess`: Megatron's tools/preprocess_data.py as flags of data::preprocess, with its
// file names (PREFIX_KEY_document.bin, .idx). A signal ends the run between two batches; the same
// command goes on from its journal.

namespace mpitron::cli {
namespace {

struct PreprocessFlags {
  data::PreprocessOptions preprocess;
  tokenizers::TokenizerOptions tokenizer;
  WorkerFlag workers;
  std::string text_documents = "paragraphs";
  bool json = false;
};

void declare(Flags& flags, PreprocessFlags& options) {
  flags.option("--input", options.preprocess.inputs,
               "JSONL (plain text where a name ends in .txt), also gzip or zstd: files, patterns, "
               "folders, - for standard input");
  flags.required();
  flags.option("--output-prefix", options.preprocess.output_prefix,
               "written are PREFIX_KEY_document.bin and .idx for each key (_sentence with "
               "--split-sentences)");
  flags.required();
  flags.option("--json-keys", options.preprocess.json_keys,
               "keys of the texts in each JSON object");
  flags.also("--json-key");
  flags.flag("--append-eod", options.preprocess.append_eod,
             "end every document that is not empty with eod");
  options.workers.add(flags);
  flags.option("--log-interval", options.preprocess.log_interval,
               "documents between two progress lines (at most one a second)");
  flags.option("--text-documents", options.text_documents,
               "where .txt files are cut into documents: paragraphs, lines or file");
  flags.choices({"paragraphs", "lines", "file"});
  add_tokenizer_options(flags, options.tokenizer);
  data::PreprocessOptions& preprocess = options.preprocess;
  flags.flag("--split-sentences", preprocess.split_sentences,
             "each sentence becomes a sequence (BERT and T5)");
  flags.flag("--keep-newlines", preprocess.keep_newlines,
             "with --split-sentences: white space behind a sentence stays");
  flags.option("--lang", preprocess.language, "language of --split-sentences");
  flags.choices(data::sentence_languages());
  flags.option("--partitions", preprocess.partitions,
               "deal the documents out to so many parts, which then follow each other; for the "
               "reference's order (speed comes from --workers)");
  flags.flag("--keep-sequential-samples", preprocess.keep_sequential_samples,
             "with --partitions: keep the input's order");
  flags.flag("--skip-bad-lines", preprocess.skip_bad_lines,
             "leave out and count documents that cannot be read");
  flags.option("--journal-bytes", preprocess.journal_bytes,
               "input between two entries of the journal from which a killed run goes on");
  flags.flag("--json", options.json, "print the summary as one JSON object");
}

data::TextDocuments text_documents_of(const std::string& name) {
  if (name == "lines") {
    return data::TextDocuments::lines;
  }
  return name == "file" ? data::TextDocuments::file : data::TextDocuments::paragraphs;
}

/// The fingerprint of the tokenizer is what a later run compares with its own.
std::string summary_json(const data::PreprocessReport& report,
                         const tokenizers::Tokenizer& tokenizer) {
  std::string files;
  for (const std::string& prefix : report.prefixes) {
    files += (files.empty() ? "" : ",") + data::quote_json(prefix);
  }
  return fmt::format(
      R"({{"documents":{},"empty_documents":{},"blank_lines":{},"bad_lines":{},"tokens":{},"bytes":{},"seconds":{:.3f},)"
      R"("tokenizer":{},"tokenizer_fingerprint":{},"vocab_size":{},"prefixes":[{}]}})",
      report.documents, report.empty_documents, report.blank_lines, report.bad_lines, report.tokens,
      report.bytes, report.seconds, data::quote_json(tokenizer.name()),
      data::quote_json(tokenizer.fingerprint()), tokenizer.vocab_size(), files);
}

/// Lines and documents that were skipped are told only where there are some.
std::string summary_text(const data::PreprocessReport& report) {
  const double seconds = std::max(report.seconds, 1e-9);
  std::string text =
      fmt::format("{} documents, {} tokens from {:.1f} MB in {:.2f} s ({:.0f} docs/s, {:.1f} MB/s)",
                  report.documents, report.tokens, static_cast<double>(report.bytes) * 1e-6,
                  report.seconds, static_cast<double>(report.documents) / seconds,
                  static_cast<double>(report.bytes) * 1e-6 / seconds);
  if (report.blank_lines > 0) {
    text += fmt::format("; {} blank lines skipped", report.blank_lines);
  }
  if (report.bad_lines > 0) {
    text += fmt::format("; {} bad lines left out", report.bad_lines);
  }
  if (report.empty_documents > 0) {
    text += fmt::format("; {} documents are empty", report.empty_documents);
  }
  for (const std::string& prefix : report.prefixes) {
    text += fmt::format("\nwrote {0}.bin and {0}.idx", prefix);
  }
  return text;
}

}  // namespace

int preprocess(const Arguments& arguments) {
  PreprocessFlags options;
  Flags flags("preprocess",
              "Tokenises JSONL or plain text into the .bin and .idx files that training reads.");
  declare(flags, options);
  if (!flags.parse(arguments)) {
    return 0;
  }
  options.preprocess.workers = options.workers.value();
  options.preprocess.text_documents = text_documents_of(options.text_documents);
  const auto tokenizer = tokenizers::make_tokenizer(options.tokenizer);
  const train::ExitSignals signals(true);
  options.preprocess.stop = [&] { return signals.received() != 0; };
  const data::PreprocessReport report = data::preprocess(*tokenizer, options.preprocess);
  log::print(options.json ? summary_json(report, *tokenizer) : summary_text(report));
  if (report.documents == 0) {
    log::warning("--input holds no documents: the corpus is empty, and no training takes it");
  }
  return 0;
}

}  // namespace mpitron::cli
