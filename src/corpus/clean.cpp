#include "corpus/clean.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/ranges.h>

#include "corpus/language.h"
#include "corpus/record.h"
#include "corpus/text_fixes.h"
#include "corpus/url_filter.h"
#include "data/document_reader.h"
#include "data/input_files.h"
#include "data/json_text.h"
#include "data/ordered_pipeline.h"
#include "data/progress.h"
#include "tokenizers/split_lexer.h"
#include "utils/error.h"
#include "utils/files.h"
#include "utils/log.h"
#include "utils/utf8.h"

namespace mpitron::corpus {
namespace {

constexpr Index kCharactersPerToken = 8;  // a longer text needs no counting (Megatron's rule)
constexpr Index kMaxComplaints = 10;

struct Batch {
  data::DocumentBatch raw;
  std::string out;                // what is written: JSON objects without the brace
  std::vector<std::size_t> ends;  // of each in `out`
  std::array<Index, kFates> fates{};
  Index fixed = 0;
  Index split = 0;
  std::vector<std::string> complaints;
  std::vector<std::vector<std::uint64_t>> ngrams;  // of each document (pass 1)

  void clear() {
    out.clear();
    ends.clear();
    fates = {};
    fixed = split = 0;
    complaints.clear();
    ngrams.clear();
  }
};

Fate fate_of(UrlVerdict verdict) {
  switch (verdict) {
    case UrlVerdict::good:
      return Fate::kept;
    case UrlVerdict::malformed:
      return Fate::url_malformed;
    case UrlVerdict::too_short:
      return Fate::url_too_short;
    case UrlVerdict::bad_extension:
      return Fate::url_extension;
    case UrlVerdict::bad_domain:
      return Fate::url_domain;
  }
  return Fate::kept;
}

// What one thread needs.
class Cleaner {
 public:
  Cleaner(const CleanOptions& options, const UrlFilter& urls, const NgramFilter& ngrams)
      : options_(options),
        urls_(urls),
        ngrams_(ngrams),
        cache_(options.tokenizer != nullptr ? options.tokenizer->make_cache() : nullptr) {}

  void clean(Batch& batch) {
    batch.clear();
    for (const data::RawDocument& document : batch.raw.documents) {
      Fate fate = Fate::bad_line;
      guard(batch, document, [&] { fate = clean(batch, document); });
      ++batch.fates[static_cast<std::size_t>(fate)];
    }
  }

  /// The n-grams of tasks in each document that reaches decontamination.
  void find_ngrams(Batch& batch) {
    batch.clear();
    for (const data::RawDocument& document : batch.raw.documents) {
      guard(batch, document, [&] {
        const auto text = text_of(batch, document);
        if (judge(text) == Fate::kept) {
          batch.ngrams.push_back(ngrams_.find(fixed_));
        }
      });
    }
  }

 private:
  template <class Work>
  void guard(Batch& batch, const data::RawDocument& document, const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      std::string complaint = fmt::format("{}:{}: document at byte {}: {}", *batch.raw.file,
                                          document.line, document.offset, error.what());
      if (!options_.skip_bad_lines) {
        throw_data("{}; --skip-bad-lines leaves such documents out", complaint);
      }
      batch.complaints.push_back(std::move(complaint));
    }
  }

  std::string_view text_of(const Batch& batch, const data::RawDocument& document) {
    json_ = batch.raw.json;
    if (!json_) {
      plain_ = replace_invalid_utf8(document.text);
      return plain_;
    }
    record_.parse(document.text);
    const std::string_view* text = record_.text(options_.text_key);
    if (text == nullptr) {
      throw_data("the object has no text under \"{}\" (--text-key)", options_.text_key);
    }
    return *text;
  }

  // Leaves the text to write in fixed_.
  Fate judge(std::string_view text) {
    fixed_ = options_.fix_text ? fix_text(text) : std::string(text);
    changed_ = fixed_ != text;
    const std::string_view* url =
        json_ && options_.filter_urls ? record_.text(options_.url_key) : nullptr;
    if (url != nullptr) {
      if (const Fate fate = fate_of(urls_.check(*url)); fate != Fate::kept) {
        return fate;
      }
    }
    if (!options_.language.empty() && guess_language(fixed_).code != options_.language) {
      return Fate::language;
    }
    return long_enough() ? Fate::kept : Fate::too_short;
  }

  bool long_enough() {
    if (std::ssize(fixed_) >= 4 * kCharactersPerToken * options_.min_tokens) {
      return true;  // 4 bytes a character at most
    }
    if (options_.tokenizer != nullptr) {
      ids_.clear();
      options_.tokenizer->encode(fixed_, *cache_, ids_);
      return std::ssize(ids_) >= options_.min_tokens;
    }
    tokenizers::Gpt2Lexer lexer(fixed_);
    Index words = 0;
    while (words < options_.min_tokens && !lexer.next().empty()) {
      ++words;
    }
    return words >= options_.min_tokens;
  }

  Fate clean(Batch& batch, const data::RawDocument& document) {
    const std::string_view text = text_of(batch, document);
    if (const Fate fate = judge(text); fate != Fate::kept) {
      return fate;
    }
    const auto pieces = ngrams_.empty()
                            ? std::vector<std::string_view>{fixed_}
                            : ngrams_.split(fixed_).value_or(std::vector<std::string_view>());
    if (pieces.empty()) {
      return Fate::contaminated;
    }
    const bool whole = pieces.size() == 1 && pieces[0].size() == fixed_.size();
    batch.fixed += changed_;
    batch.split += !whole;
    for (const std::string_view piece : pieces) {
      if (json_) {
        batch.out +=
            record_.tail_with(whole && !changed_ ? Changes() : Changes{{options_.text_key, piece}});
      } else {
        batch.out += data::quote_json(options_.text_key) + ": " + data::quote_json(piece) + "}";
      }
      batch.ends.push_back(batch.out.size());
    }
    return Fate::kept;
  }

  const CleanOptions& options_;
  const UrlFilter& urls_;
  const NgramFilter& ngrams_;
  std::unique_ptr<tokenizers::Tokenizer::Cache> cache_;
  Record record_;
  bool json_ = true;
  bool changed_ = false;
  std::string plain_;
  std::string fixed_;
  tokenizers::TokenIds ids_;
};

void throw_if_stopped(const CleanOptions& options) {
  if (options.stop && options.stop()) {
    throw Error(ExitCode::interrupted_unsaved, "clean was stopped; nothing was written");
  }
}

/// One pass over the input: `process(cleaner, batch)` on the workers, `consume(batch)` in order.
template <class Process, class Consume>
void for_each_batch(const CleanOptions& options, const std::vector<std::string>& inputs,
                    std::vector<Cleaner>& cleaners, const Process& process,
                    const Consume& consume) {
  data::DocumentReader reader(inputs, data::TextDocuments::paragraphs);
  data::Progress progress("clean", reader.total_bytes(), 1);
  Index documents = 0;
  Index bytes = 0;
  data::OrderedPipeline<Batch>(options.workers)
      .run(
          [&](Batch& batch) {
            const bool more = reader.next(batch.raw);
            throw_if_stopped(options);
            return more;
          },
          [&](int worker, Batch& batch) {
            process(cleaners[static_cast<std::size_t>(worker)], batch);
          },
          [&](Batch& batch) {
            consume(batch);
            documents += std::ssize(batch.raw.documents);
            bytes += batch.raw.file_bytes;
            progress.update(documents, bytes);
          });
}

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
      record.parse(document.text);
      const std::string_view* text = record.text(options.text_key);
      if (text == nullptr) {
        throw_data("--task-file {}:{}: the object has no text under \"{}\" (--text-key)",
                   *batch.file, document.line, options.text_key);
      }
      ngrams.add_task(*text);
    }
  }
  if (ngrams.empty()) {
    throw_data("--task-file: no text has {} words or more", options.ngrams.least_words);
  }
}

class Output {
 public:
  Output(const CleanOptions& options, CleanReport& report)
      : options_(options), report_(report), file_(options.output) {}

  void write(const Batch& batch) {
    std::size_t begin = 0;
    for (const std::size_t end : batch.ends) {
      const std::string_view tail = std::string_view(batch.out).substr(begin, end - begin);
      ++report_.written;
      const std::string head =
          options_.id_prefix.empty()
              ? "{"
              : fmt::format(
                    "{{\"id\": {}{}",
                    data::quote_json(fmt::format("{}-{:010}", options_.id_prefix, report_.written)),
                    tail == "}" ? "" : ", ");
      file_.write(head);
      file_.write(tail);
      file_.write("\n");
      report_.bytes_written += std::ssize(head) + std::ssize(tail) + 1;
      begin = end;
    }
    for (std::size_t i = 0; i < kFates; ++i) {
      report_.fates[i] += batch.fates[i];
    }
    report_.documents += std::ssize(batch.raw.documents);
    report_.fixed += batch.fixed;
    report_.split += batch.split;
    report_.bytes += batch.raw.file_bytes;
    for (const std::string& complaint : batch.complaints) {
      if (++complaints_ <= kMaxComplaints) {
        log::warning("left out: {}{}", complaint,
                     complaints_ == kMaxComplaints ? "; more of them are only counted" : "");
      }
    }
  }

  void commit() { file_.commit(); }

 private:
  const CleanOptions& options_;
  CleanReport& report_;
  AtomicFile file_;
  Index complaints_ = 0;
};

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

CleanReport clean(const CleanOptions& options) {
  const Timer timer;
  const std::vector<std::string> inputs = data::find_input_files(options.inputs);
  check(options, inputs);
  const UrlFilter urls(options.more_domains);
  NgramFilter ngrams(options.ngrams);
  read_tasks(options, ngrams);
  CleanReport report;
  Output output(options, report);
  std::vector<Cleaner> cleaners;
  for (int worker = 0; worker < options.workers; ++worker) {
    cleaners.emplace_back(options, urls, ngrams);
  }
  if (!ngrams.empty()) {
    for_each_batch(
        options, inputs, cleaners,
        [](Cleaner& cleaner, Batch& batch) { cleaner.find_ngrams(batch); },
        [&](const Batch& batch) {
          for (const auto& found : batch.ngrams) {
            ngrams.count(found);
          }
        });
    ngrams.drop_idioms();
  }
  for_each_batch(
      options, inputs, cleaners, [](Cleaner& cleaner, Batch& batch) { cleaner.clean(batch); },
      [&](const Batch& batch) { output.write(batch); });
  throw_if_stopped(options);
  output.commit();
  report.seconds = timer.seconds();
  return report;
}

}  // namespace mpitron::corpus
