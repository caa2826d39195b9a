#include "corpus/clean.h"

#include "cli/commands.h"
#include "cli/data/tokenizer_flags.h"
#include "cli/flags.h"
#include "data/preprocess/json_text.h"
#include "train/run/exit_signals.h"
#include "utils/log.h"

// `mpitron clean`: flags of corpus::clean and its report. It joins the steps of Megatron's
// tools/openwebtext scripts: address, repair of the text, language, length, decontamination against
// evaluation tasks.

namespace mpitron::cli {
namespace {

struct CleanFlags {
  corpus::CleanOptions clean;
  tokenizers::TokenizerOptions tokenizer;
  WorkerFlag workers;
  bool keep_urls = false;
  bool keep_text = false;
  bool json = false;
};

/// Flags of the filters; defaults are those of the fields they point to.
void declare_filters(Flags& flags, CleanFlags& options) {
  corpus::CleanOptions& clean = options.clean;
  flags.flag("--no-url-filter", options.keep_urls, "keep documents whatever their address is");
  flags.option("--blacklist-domains", clean.more_domains,
               "further domains whose documents are dropped");
  flags.flag("--no-text-fixes", options.keep_text, "leave texts as they are");
  flags.option("--language", clean.language, "keep documents of this language; any: of all");
  flags.option("--min-tokens", clean.min_tokens, "drop shorter documents; 0: none");
  add_tokenizer_options(flags, options.tokenizer);
  flags.option("--task-file", clean.task_files,
               "texts of evaluation tasks (JSONL or .txt), to be cut out of the corpus");
  flags.option("--ngram-size", clean.ngrams.words, "words in common with a task that are a hit");
  flags.option("--remove-char-each-side", clean.ngrams.margin, "characters cut around a hit");
  flags.option("--filter-text-char-len", clean.ngrams.least_characters,
               "pieces that are not longer are dropped");
  flags.option("--splits-count", clean.ngrams.most_splits,
               "a document with more hits is dropped as a whole");
  flags.option("--key-threshold", clean.ngrams.most_documents,
               "n-grams that are in more documents are no hits");
}

void declare(Flags& flags, CleanFlags& options) {
  corpus::CleanOptions& clean = options.clean;
  flags.option("--input", clean.inputs,
               "JSONL (plain text where a name ends in .txt), also gzip or zstd: files, patterns, "
               "folders, - for standard input");
  flags.required();
  flags.option("--output", clean.output, "JSONL file to write");
  flags.required();
  flags.option("--text-key", clean.text_key, "key of the text in each JSON object");
  flags.option("--url-key", clean.url_key, "key of the address, where there is one");
  declare_filters(flags, options);
  flags.option("--add-id", clean.id_prefix, "give documents \"id\": \"PREFIX-0000000001\", ...");
  flags.flag("--skip-bad-lines", clean.skip_bad_lines,
             "leave out and count documents that cannot be read");
  options.workers.add(flags);
  flags.flag("--json", options.json, "print the report as one JSON object");
}

std::string report_json(const corpus::CleanReport& report) {
  std::string fates;
  for (std::size_t i = 0; i < corpus::kFates; ++i) {
    fates += fmt::format("\"{}\":{},", to_string(static_cast<corpus::Fate>(i)), report.fates[i]);
  }
  return fmt::format(
      R"({{"documents":{},{}"fixed":{},"split":{},"written":{},"bytes":{},"bytes_written":{},"seconds":{:.3f}}})",
      report.documents, fates, report.fixed, report.split, report.written, report.bytes,
      report.bytes_written, report.seconds);
}

/// One row for each fate that some document met, with its share of all documents read.
std::string report_text(const corpus::CleanReport& report, const std::string& output) {
  const double percent = 100.0 / static_cast<double>(std::max<Index>(report.documents, 1));
  std::string text;
  for (std::size_t i = 0; i < corpus::kFates; ++i) {
    if (report.fates[i] > 0) {
      text += fmt::format("{:>14} {:>12}  {:5.1f} %\n", to_string(static_cast<corpus::Fate>(i)),
                          report.fates[i], static_cast<double>(report.fates[i]) * percent);
    }
  }
  const double megabytes = static_cast<double>(report.bytes) * 1e-6;
  return text + fmt::format(
                    "{} documents of {:.1f} MB in {:.2f} s ({:.1f} MB/s); {} texts repaired, {} "
                    "split by decontamination\nwrote {}: {} documents, {:.1f} MB",
                    report.documents, megabytes, report.seconds,
                    megabytes / std::max(report.seconds, 1e-9), report.fixed, report.split, output,
                    report.written, static_cast<double>(report.bytes_written) * 1e-6);
}

}  // namespace

int clean(const Arguments& arguments) {
  CleanFlags options;
  Flags flags("clean",
              "Cleans a corpus of web texts: filters of address, language and length, repairs of "
              "the text, decontamination, ids. The steps of Megatron's OpenWebText scripts.");
  declare(flags, options);
  if (!flags.parse(arguments)) {
    return 0;
  }
  options.clean.workers = options.workers.value();
  options.clean.filter_urls = !options.keep_urls;
  options.clean.fix_text = !options.keep_text;
  if (options.clean.language == "any") {
    options.clean.language.clear();
  }
  std::unique_ptr<tokenizers::Tokenizer> tokenizer;
  if (!options.tokenizer.vocab_file.empty()) {
    tokenizer = tokenizers::make_tokenizer(options.tokenizer);
    options.clean.tokenizer = tokenizer.get();
  }
  const train::ExitSignals signals(true);
  options.clean.stop = [&] { return signals.received() != 0; };
  const corpus::CleanReport report = corpus::clean(options.clean);
  log::print(options.json ? report_json(report) : report_text(report, options.clean.output));
  return 0;
}

}  // namespace mpitron::cli
