#include <memory>
#include <vector>

#include "tokenizers/hugging_face/hf_pattern.h"
#include "tokenizers/hugging_face/hf_steps.h"
#include "tokenizers/text/byte_alphabet.h"
#include "tokenizers/text/charsmap.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// The normalizers of a tokenizer.json: pure functions on a text, each made once of its JSON object.
// Kinds, members and their defaults are those of the tokenizers crate.

namespace mpitron::tokenizers {
namespace {

TextRule make_normal_form(NormalForm form) {
  return [form](std::string& text) { text = normalize(text, form); };
}

/// Finds the first and last character that is no white space in one walk.
TextRule make_strip_rule(const JsonView& spec) {
  const bool left = spec.boolean("strip_left", true);
  const bool right = spec.boolean("strip_right", true);
  return [left, right](std::string& text) {
    std::size_t first = std::string::npos, last = 0, at = 0;
    for_characters(text, [&](std::uint32_t c, std::string_view bytes) {
      const std::size_t end = at + bytes.size();
      if (!is_white_space(c)) {
        first = std::min(first, at);
        last = end;
      }
      at = end;
    });
    const std::size_t begin = left ? std::min(first, text.size()) : 0;
    const std::size_t end = right ? std::max(last, begin) : text.size();
    text = text.substr(begin, end - begin);
  };
}

TextRule make_prepend(const JsonView& spec) {
  return [prefix = spec.at("prepend").text()](std::string& text) {
    if (!text.empty()) {
      text.insert(0, prefix);
    }
  };
}

TextRule make_replace_rule(const JsonView& spec) {
  return [pattern = HfPattern(spec.at("pattern")), content = spec.at("content").text()](
             std::string& text) { pattern.replace(text, content); };
}

/// Follows the crate's order: characters that are dropped or become blanks, blanks around
/// ideographs, accents, at last lower case. Accents go with lower case unless strip_accents says
/// otherwise.
TextRule make_bert_rule(const JsonView& spec) {
  const bool clean = spec.boolean("clean_text", true);
  const bool cjk = spec.boolean("handle_chinese_chars", true);
  const bool lower = spec.boolean("lowercase", true);
  const bool strip = spec.boolean("strip_accents", lower);
  return [=](std::string& text) {
    std::string out;
    for_characters(text, [&](std::uint32_t c, std::string_view bytes) {
      const bool blank = c == '\t' || c == '\n' || c == '\r' || is_white_space(c);
      if (clean &&
          (c == 0 || c == 0xFFFD || (is_other(c) && c != '\t' && c != '\n' && c != '\r'))) {
        return;
      }
      if (clean && blank) {
        out += ' ';
      } else if (cjk && is_cjk(c)) {
        out.append(" ").append(bytes).append(" ");
      } else {
        out += bytes;
      }
    });
    text = strip ? strip_nonspacing_marks(normalize(out, NormalForm::nfd)) : std::move(out);
    if (lower) {
      text = lower_case(text);
    }
  };
}

/// Looks a grapheme of up to five bytes up as a whole, anything else character by character; the
/// shortest rule counts. Source: the crate spm_precompiled.
TextRule make_precompiled(const JsonView& spec) {
  const auto map = decode_base64(spec.at("precompiled_charsmap").text());
  if (!map) {
    throw_data("precompiled_charsmap is not base64");
  }
  const auto rules = std::make_shared<const CharsMap>(*map);
  return [rules](std::string& text) {
    std::string out;
    for_graphemes(text, [&](std::string_view grapheme) {
      constexpr std::size_t kLongest = 5;
      if (grapheme.size() <= kLongest) {
        if (const auto match = rules->shortest(grapheme)) {
          out += match->replacement;
          return;
        }
      }
      for_characters(grapheme, [&](std::uint32_t, std::string_view bytes) {
        const auto match = rules->shortest(bytes);
        out += match ? match->replacement : bytes;
      });
    });
    text = std::move(out);
  };
}

TextRule make_strip_accents(const JsonView&) {
  return [](std::string& text) {
    std::string out;
    for_characters(text, [&](std::uint32_t c, std::string_view bytes) {
      if (!is_mark(c)) {
        out += bytes;
      }
    });
    text = std::move(out);
  };
}

TextRule make_rule_sequence(const JsonView& spec) {
  std::vector<TextRule> rules;
  spec.at("normalizers").for_elements([&](const JsonView& element) {
    rules.push_back(make_hf_normalizer(element));
  });
  return [rules](std::string& text) {
    for (const TextRule& rule : rules) {
      if (rule) {
        rule(text);
      }
    }
  };
}

constexpr HfKind<TextRule> kNormalizers[] = {
    {"Sequence", make_rule_sequence},
    {"NFC", [](const JsonView&) { return make_normal_form(NormalForm::nfc); }},
    {"NFD", [](const JsonView&) { return make_normal_form(NormalForm::nfd); }},
    {"NFKC", [](const JsonView&) { return make_normal_form(NormalForm::nfkc); }},
    {"NFKD", [](const JsonView&) { return make_normal_form(NormalForm::nfkd); }},
    {"Lowercase",
     [](const JsonView&) -> TextRule {
       return [](std::string& text) { text = lower_case(text); };
     }},
    {"StripAccents", make_strip_accents},
    {"Strip", make_strip_rule},
    {"Prepend", make_prepend},
    {"Replace", make_replace_rule},
    {"BertNormalizer", make_bert_rule},
    {"Precompiled", make_precompiled},
};

}  // namespace

TextRule make_hf_normalizer(const JsonView& spec) {
  if (spec.is_null()) {
    return {};
  }
  return kind_of<TextRule>(spec, kNormalizers, "normalizer").make(spec);
}

}  // namespace mpitron::tokenizers
