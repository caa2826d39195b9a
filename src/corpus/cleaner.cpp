#include "corpus/cleaner.h"

#include <algorithm>
#include <array>
#include <cstdint>

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

namespace {

/// Characters of Windows-1252 for the bytes 0x80 to 0x9F; 0: none, the C1 control then.
constexpr std::array<std::uint16_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

/// Returns the byte that a character was before it was misread, or -1.
int byte_of(std::uint32_t c) {
  if (c >= 0x80 && c <= 0xFF) {
    return static_cast<int>(c);
  }
  for (std::size_t i = 0; c > 0xFF && i < kWindows1252.size(); ++i) {
    if (kWindows1252[i] == c) {
      return static_cast<int>(i) + 0x80;
    }
  }
  return -1;
}

/// Returns whether a byte may begin a misread character. Misread texts are full of the lead bytes
/// of Latin, punctuation, Cyrillic, Greek, CJK and emoji; others ("É" in "CAFÉ™") are more often
/// meant.
bool is_lead(int byte) {
  switch (byte) {
    case 0xC2:
    case 0xC3:
    case 0xC4:
    case 0xC5:
    case 0xCE:
    case 0xCF:
    case 0xD0:
    case 0xD1:
    case 0xD8:
    case 0xD9:
    case 0xE2:
    case 0xE3:
    case 0xF0:
      return true;
    default:
      return byte >= 0xE5 && byte <= 0xE9;
  }
}

/// Returns the character that was misread as those at the front of `text`; 0 bytes where none was.
Utf8Char read_misread(std::string_view text) {
  std::string bytes;
  int used = 0;
  for (int wanted = 1; static_cast<int>(bytes.size()) < wanted;) {
    if (static_cast<std::size_t>(used) == text.size()) {
      return {};
    }
    const Utf8Char next = decode_utf8(text.substr(static_cast<std::size_t>(used)));
    const int byte = next.bytes == 0 ? -1 : byte_of(next.code_point);
    if (byte < 0 || (bytes.empty() && !is_lead(byte))) {
      return {};
    }
    if (bytes.empty()) {
      wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    }
    bytes += static_cast<char>(byte);
    used += next.bytes;
  }
  const Utf8Char meant = decode_utf8(bytes);
  return meant.bytes == static_cast<int>(bytes.size()) ? Utf8Char{meant.code_point, used}
                                                       : Utf8Char{};
}

/// Undoes UTF-8 that was read as Windows-1252 and encoded again, source: ftfy's `fix_encoding`.
std::string undo_misreading(std::string_view text) {
  std::string fixed;
  fixed.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const bool ascii = static_cast<unsigned char>(text[at]) < 0x80;
    if (const Utf8Char meant = ascii ? Utf8Char{} : read_misread(text.substr(at));
        meant.bytes > 0) {
      append_utf8(meant.code_point, fixed);
      at += static_cast<std::size_t>(meant.bytes);
    } else {
      fixed += text[at++];
    }
  }
  return fixed;
}

/// Returns the character that an entity means, with its bytes; 0 bytes where it is none.
Utf8Char read_entity(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::uint32_t>, 12> kNames = {
      {{"&amp;", '&'},
       {"&lt;", '<'},
       {"&gt;", '>'},
       {"&quot;", '"'},
       {"&apos;", '\''},
       {"&nbsp;", 0xA0},
       {"&ndash;", 0x2013},
       {"&mdash;", 0x2014},
       {"&lsquo;", '\''},
       {"&rsquo;", '\''},
       {"&ldquo;", '"'},
       {"&rdquo;", '"'}}};
  for (const auto& [name, c] : kNames) {
    if (text.starts_with(name)) {
      return {c, static_cast<int>(name.size())};
    }
  }
  if (!text.starts_with("&#")) {
    return {};
  }
  std::uint32_t c = 0;
  std::size_t at = 2;
  for (; at < text.size() && at < 9 && text[at] >= '0' && text[at] <= '9'; ++at) {
    c = c * 10 + static_cast<std::uint32_t>(text[at] - '0');
  }
  const bool ends = at > 2 && at < text.size() && text[at] == ';';
  const bool character = c >= 0x20 && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
  return ends && character ? Utf8Char{c, static_cast<int>(at) + 1} : Utf8Char{};
}

/// Replaces HTML entities in texts without tags: beside tags they may be meant as they are.
std::string replace_entities(std::string_view text) {
  if (text.find('<') != std::string_view::npos || text.find('&') == std::string_view::npos) {
    return std::string(text);
  }
  std::string fixed;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char meant = text[at] == '&' ? read_entity(text.substr(at)) : Utf8Char{};
    if (meant.bytes > 0) {
      append_utf8(meant.code_point, fixed);
      at += static_cast<std::size_t>(meant.bytes);
    } else {
      fixed += text[at++];
    }
  }
  return fixed;
}

/// Returns the bytes of a terminal escape (ESC [ ... letter) at the front, 0: none.
std::size_t terminal_escape(std::string_view text) {
  if (!text.starts_with("\x1b[")) {
    return 0;
  }
  std::size_t at = 2;
  while (at < text.size() && ((text[at] >= '0' && text[at] <= '9') || text[at] == ';')) {
    ++at;
  }
  const bool ends =
      at < text.size() && text[at] >= '@' && text[at] <= '~';  // ECMA-48: the last byte
  return ends ? at + 1 : at;
}

bool is_control(std::uint32_t c) {
  return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F) ||
         (c >= 0x206A && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFC);
}

/// Appends a character; ligatures, full-width letters and typographic quotes in their plain form,
/// controls not at all.
void append_simplified(std::uint32_t c, std::string& text) {
  static constexpr std::array<std::string_view, 7> kLigatures = {"ff",  "fi", "fl", "ffi",
                                                                 "ffl", "st", "st"};
  if (c >= 0xFB00 && c <= 0xFB06) {
    text += kLigatures[c - 0xFB00];
  } else if (c >= 0xFF01 && c <= 0xFF5E) {
    text += static_cast<char>(c - 0xFF01 + '!');
  } else if (c >= 0x2018 && c <= 0x201B) {
    text += '\'';
  } else if (c >= 0x201C && c <= 0x201F) {
    text += '"';
  } else if (c == 0x2028 || c == 0x2029 || c == 0x85) {
    text += '\n';
  } else if (!is_control(c)) {
    append_utf8(c, text);
  }
}

/// Simplifies all characters; printable ASCII is copied without a look.
std::string simplify_characters(std::string_view text) {
  std::string fixed;
  fixed.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char byte = text[at];
    if (static_cast<signed char>(byte) >= 0x20 && byte != 0x7F) {
      fixed += byte;
      ++at;
    } else if (byte == '\r') {
      fixed += '\n';
      at += text.substr(at).starts_with("\r\n") ? 2 : 1;
    } else if (const std::size_t bytes = terminal_escape(text.substr(at)); bytes > 0) {
      at += bytes;
    } else {
      const Utf8Char next = decode_utf8(text.substr(at));
      append_simplified(next.bytes > 0 ? next.code_point : 0xFFFD, fixed);
      at += static_cast<std::size_t>(std::max(next.bytes, 1));
    }
  }
  return fixed;
}

/// Returns whether a text is plain ASCII without entities, and needs no repair.
bool is_clean(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (static_cast<signed char>(c) >= 0x20 && c != 0x7F && c != '&') || c == '\n' || c == '\t';
  });
}

}  // namespace

/// Repairs until nothing changes: one repair can uncover another.
std::string fix_text(std::string_view text) {
  std::string fixed(text);
  while (!is_clean(fixed)) {  // ends: a round that changes something makes the text simpler
    std::string next = simplify_characters(undo_misreading(replace_entities(fixed)));
    if (next == fixed) {
      break;
    }
    fixed = std::move(next);
  }
  return fixed;
}

}  // namespace mpitron::corpus
