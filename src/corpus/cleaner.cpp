#include "corpus/cleaner.h"

#include "corpus/language.h"
#include "data/preprocess/json_text.h"
#include "tokenizers/split/split_lexer.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// Takes a batch of documents through the steps: address, repairs of the text, language, length,
// texts of tasks. Each document carries the first reason for which it is dropped.

namespace mpitron::corpus {

namespace {

constexpr Index kCharactersPerToken = 8;  // a longer text needs no counting (Megatron's rule)

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

}  // namespace

/// Clears all but the documents, and keeps the memory for the next batch.
void CleanBatch::clear() {
  out.clear();
  ends.clear();
  fates = {};
  fixed = split = 0;
  complaints.clear();
  ngrams.clear();
}

Cleaner::Cleaner(const CleanOptions& options, const UrlFilter& urls, const NgramFilter& ngrams)
    : options_(options),
      urls_(urls),
      ngrams_(ngrams),
      cache_(options.tokenizer != nullptr ? options.tokenizer->make_cache() : nullptr) {}

/// Ends the run at a bad record, or counts it, as the options say.
template <class Work>
void Cleaner::guard(CleanBatch& batch, const data::RawDocument& document, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    std::string complaint = batch.raw.complaint(document, error.what());
    if (!options_.skip_bad_lines) {
      throw_data("{}; --skip-bad-lines leaves such documents out", complaint);
    }
    batch.complaints.push_back(std::move(complaint));
  }
}

/// Order of checks: cheap ones first.
void Cleaner::clean(CleanBatch& batch) {
  batch.clear();
  for (const data::RawDocument& document : batch.raw.documents) {
    Fate fate = Fate::bad_line;
    guard(batch, document, [&] { fate = clean(batch, document); });
    ++batch.fates[static_cast<std::size_t>(fate)];
  }
}

/// Collects in the first pass which n-grams of tasks there are, in documents that would be kept.
void Cleaner::find_ngrams(CleanBatch& batch) {
  batch.clear();
  for (const data::RawDocument& document : batch.raw.documents) {
    guard(batch, document, [&] {
      if (judge(text_of(batch, document)) == Fate::kept) {
        batch.ngrams.push_back(ngrams_.find(fixed_));
      }
    });
  }
}

/// Plain text has no fields; bytes that are no UTF-8 become the replacement character.
std::string_view Cleaner::text_of(const CleanBatch& batch, const data::RawDocument& document) {
  json_ = batch.raw.json;
  if (!json_) {
    plain_ = replace_invalid_utf8(document.text);
    return plain_;
  }
  record_.parse(document.text);
  return record_.required_text(options_.text_key);
}

/// Decides whether the text stays, after its repair. The address comes before the language, whose
/// guess costs more.
Fate Cleaner::judge(std::string_view text) {
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

/// Decides by bytes first: only short texts are worth a tokenizer.
bool Cleaner::long_enough() {
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

/// Cleans one document. A text that a task's n-gram was cut from becomes several; a record that
/// nothing changed is written as it was read.
Fate Cleaner::clean(CleanBatch& batch, const data::RawDocument& document) {
  if (const Fate fate = judge(text_of(batch, document)); fate != Fate::kept) {
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

}  // namespace mpitron::corpus
