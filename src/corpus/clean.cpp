#include "corpus/clean.h"

#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "corpus/cleaned_output.h"
#include "corpus/cleaner.h"
#include "corpus/language.h"
#include "data/index/input_files.h"
#include "data/index/ordered_pipeline.h"
#include "data/preprocess/progress.h"
#include "utils/error.h"
#include "utils/log.h"

// Cleans a corpus: reads batches, has them cleaned on all cores, and writes them in the order of
// the input, so that the output does not depend on the number of workers. With task files there is
// a first pass that counts n-grams.

namespace mpitron::corpus {
namespace {

void throw_if_stopped(const CleanOptions& options) {
  if (options.stop && options.stop()) {
    throw Error(ExitCode::interrupted_unsaved, "clean was stopped; nothing was written");
  }
}

/// Passes once over the input: `process(cleaner, batch)` on the workers, `consume(batch)` in order.
template <class Process, class Consume>
void for_each_batch(const CleanOptions& options, const std::vector<std::string>& inputs,
                    std::vector<Cleaner>& cleaners, const Process& process,
                    const Consume& consume) {
  data::DocumentReader reader(inputs, data::TextDocuments::paragraphs);
  data::Progress progress("clean", reader.total_bytes(), 1);
  Index documents = 0;
  Index bytes = 0;
  data::OrderedPipeline<CleanBatch>(options.workers)
      .run(
          [&](CleanBatch& batch) {
            const bool more = reader.next(batch.raw);
            throw_if_stopped(options);
            return more;
          },
          [&](int worker, CleanBatch& batch) {
            process(cleaners[static_cast<std::size_t>(worker)], batch);
          },
          [&](CleanBatch& batch) {
            consume(batch);
            documents += std::ssize(batch.raw.documents);
            bytes += batch.raw.file_bytes;
            progress.update(documents, bytes);
          });
}

/// Reads the texts of tasks whose n-grams are looked for in the corpus.
void read_tasks(const CleanOptions& options, NgramFilter& ngrams) {
  if (options.task_files.empty()) {
    return;
  }
  const std::vector<std::string> files = data::find_input_files(options.task_files);
  for (const std::string& file : files) {
    if (!std::filesystem::exists(file)) {
      throw_data("--task-file {}: there is no such file", file);
    }
  }
  data::refuse_to_replace(files, "--output", options.output);
  data::DocumentReader reader(files, data::TextDocuments::paragraphs);
  data::DocumentBatch batch;
  Record record;
  while (reader.next(batch)) {
    for (const data::RawDocument& document : batch.documents) {
      if (!batch.json) {
        ngrams.add_task(document.text);
        continue;
      }
      try {
        record.parse(document.text);
        ngrams.add_task(record.required_text(options.text_key));
      } catch (const Error& error) {
        throw_data("--task-file {}:{}: {}", *batch.file, document.line, error.what());
      }
    }
  }
  if (ngrams.empty()) {
    throw_data("--task-file: no text has {} words or more", options.ngrams.least_words);
  }
}

/// Refuses combinations that make no sense before anything is read.
void check(const CleanOptions& options, const std::vector<std::string>& inputs) {
  const auto languages = known_languages();
  if (!options.language.empty() &&
      std::ranges::find(languages, options.language) == languages.end()) {
    throw_usage("--language {}: known are {} (or any, for no filter)", options.language,
                fmt::join(languages, " "));
  }
  if (options.min_tokens < 0) {
    throw_usage("--min-tokens {}: allowed are 0 (any length) and more", options.min_tokens);
  }
  data::refuse_to_replace(inputs, "--output", options.output);
  for (const std::string& input : inputs) {
    if (!options.task_files.empty() && !std::filesystem::is_regular_file(input)) {
      throw_usage("--input {}: with --task-file the input is read twice, which no pipe can be",
                  input);
    }
  }
}

}  // namespace

std::string_view to_string(Fate fate) {
  static constexpr std::array<std::string_view, kFates> kNames = {
      "kept",       "bad_line", "url_malformed", "url_too_short", "url_extension",
      "url_domain", "language", "too_short",     "contaminated"};
  return kNames[static_cast<std::size_t>(fate)];
}

/// Runs one pass, or two with tasks: n-grams are counted over the whole corpus before one document
/// is cut, so that idioms are known.
CleanReport clean(const CleanOptions& options) {
  const Timer timer;
  const std::vector<std::string> inputs = data::find_input_files(options.inputs);
  check(options, inputs);
  const UrlFilter urls(options.more_domains);
  NgramFilter ngrams(options.ngrams);
  read_tasks(options, ngrams);
  CleanReport report;
  CleanedOutput output(options, report);
  std::vector<Cleaner> cleaners;
  for (int worker = 0; worker < options.workers; ++worker) {
    cleaners.emplace_back(options, urls, ngrams);
  }
  if (!ngrams.empty()) {
    for_each_batch(
        options, inputs, cleaners,
        [](Cleaner& cleaner, CleanBatch& batch) { cleaner.find_ngrams(batch); },
        [&](const CleanBatch& batch) {
          for (const auto& found : batch.ngrams) {
            ngrams.count(found);
          }
        });
    ngrams.drop_idioms();
  }
  for_each_batch(
      options, inputs, cleaners, [](Cleaner& cleaner, CleanBatch& batch) { cleaner.clean(batch); },
      [&](const CleanBatch& batch) { output.write(batch); });
  throw_if_stopped(options);
  output.commit();
  report.seconds = timer.seconds();
  return report;
}

}  // namespace mpitron::corpus
