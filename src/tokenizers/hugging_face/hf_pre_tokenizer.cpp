#include <utility>
#include <vector>

#include "tokenizers/hugging_face/hf_pattern.h"
#include "tokenizers/hugging_face/hf_steps.h"
#include "tokenizers/split/split_lexer.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/text/utf8.h"

// The pre-tokenizers of a tokenizer.json: rules that cut a text into the pieces which the model
// encodes one by one. Kinds, members and their defaults are those of the tokenizers crate.

namespace mpitron::tokenizers {
namespace {

using Behavior = TextPieces::Behavior;
using Cut = std::function<void(TextPieces&)>;
using Parts = std::vector<TextPieces::Part>;

Behavior parse_behavior(const JsonView& spec, const char* key) {
  return static_cast<Behavior>(spec.choose(
      key, {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"},
      static_cast<Index>(Behavior::isolated)));
}

/// Cuts text into parts: characters of class 0 that follow each other are one part without a match,
/// every other character is a match of its own.
template <class ClassOf>
void cut_runs(std::string_view text, ClassOf&& class_of, Parts& parts) {
  int previous = -1;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text.substr(at));
    const auto bytes = static_cast<std::size_t>(next.bytes == 0 ? 1 : next.bytes);
    const int kind = class_of(next.code_point);
    if (kind == previous && kind == 0) {
      parts.back().text = {parts.back().text.data(), parts.back().text.size() + bytes};
    } else {
      parts.push_back({text.substr(at, bytes), kind != 0});
    }
    previous = kind;
    at += bytes;
  }
}

/// Makes every character for which `matches` holds a match of its own.
Cut cut_characters(Behavior behavior, bool (*matches)(std::uint32_t)) {
  return [behavior, matches](TextPieces& pieces) {
    pieces.split(behavior, [matches](std::string_view text, Parts& parts) {
      cut_runs(
          text, [matches](std::uint32_t c) { return matches(c) ? 1 : 0; }, parts);
    });
  };
}

Cut cut_pattern(HfPattern pattern, Behavior behavior, bool invert) {
  return [pattern = std::move(pattern), behavior, invert](TextPieces& pieces) {
    pieces.split(behavior, [&](std::string_view text, Parts& parts) {
      pattern.for_each_part(text, [&](std::string_view part, bool is_match) {
        parts.push_back({part, is_match != invert});
      });
    });
  };
}

/// Cuts by GPT-2's pattern. Pieces stay bytes: the model knows the alphabet that stands for them.
Cut make_byte_level_cut(const JsonView& spec) {
  const bool add_space = spec.boolean("add_prefix_space", true);
  const bool use_regex = spec.boolean("use_regex", true);
  return [=](TextPieces& pieces) {
    if (add_space) {
      pieces.rewrite([](std::string_view piece, bool, std::string& out) {
        out.append(piece.starts_with(' ') ? "" : " ").append(piece);
      });
    }
    if (use_regex) {
      pieces.split(Behavior::isolated, [](std::string_view text, Parts& parts) {
        Gpt2Lexer lexer(text);
        for (std::string_view piece = lexer.next(); !piece.empty(); piece = lexer.next()) {
          parts.push_back({piece, false});
        }
      });
    }
  };
}

/// Replaces blanks by the mark, puts one in front of the text (`first`) or of every piece
/// (`always`), and cuts before each mark.
Cut make_metaspace_cut(const JsonView& spec) {
  const std::string mark = spec.text("replacement", "\xE2\x96\x81");
  if (mark.empty()) {
    spec.at("replacement").refuse("it must not be empty");
  }
  const bool legacy = spec.boolean("add_prefix_space", true);
  const Index scheme = spec.choose("prepend_scheme", {"first", "never", "always"}, legacy ? 2 : 1);
  const Cut cut = spec.boolean("split", true)
                      ? cut_pattern(HfPattern(mark), Behavior::merged_with_next, false)
                      : Cut();
  return [=](TextPieces& pieces) {
    pieces.rewrite([&](std::string_view piece, bool first, std::string& out) {
      const std::size_t before = out.size();
      for (const char c : piece) {
        c == ' ' ? out.append(mark) : out.append(1, c);
      }
      const bool prepends = scheme == 2 || (scheme == 0 && first);
      if (prepends && !std::string_view(out).substr(before).starts_with(mark)) {
        out.insert(before, mark);
      }
    });
    if (cut) {
      cut(pieces);
    }
  };
}

Cut make_split(const JsonView& spec) {
  return cut_pattern(HfPattern(spec.at("pattern")), parse_behavior(spec, "behavior"),
                     spec.boolean("invert", false));
}

/// Cuts as the regular expression \w+|[^\w\s]+ does, and drops white space.
Cut make_whitespace(const JsonView&) {
  return [](TextPieces& pieces) {
    pieces.split(Behavior::removed, [](std::string_view text, Parts& parts) {
      int previous = -1;
      for (std::size_t at = 0; at < text.size();) {
        const Utf8Char next = decode_utf8(text.substr(at));
        const auto bytes = static_cast<std::size_t>(next.bytes == 0 ? 1 : next.bytes);
        const std::uint32_t c = next.code_point;
        const int kind = is_white_space(c) ? 2 : is_word(c) ? 1 : 0;
        if (kind == previous) {
          parts.back().text = {parts.back().text.data(), parts.back().text.size() + bytes};
        } else {
          parts.push_back({text.substr(at, bytes), kind == 2});
        }
        previous = kind;
        at += bytes;
      }
    });
  };
}

Cut make_digits(const JsonView& spec) {
  return cut_characters(
      spec.boolean("individual_digits", false) ? Behavior::isolated : Behavior::contiguous,
      is_number);
}

Cut make_bert_cut(const JsonView&) {
  return [](TextPieces& pieces) {
    cut_characters(Behavior::removed, is_white_space)(pieces);
    cut_characters(Behavior::isolated, is_bert_punctuation)(pieces);
  };
}

Cut make_delimiter(const JsonView& spec) {
  return cut_pattern(HfPattern(spec.at("delimiter").text()), Behavior::removed, false);
}

Cut make_whitespace_split(const JsonView&) {
  return cut_characters(Behavior::removed, is_white_space);
}

Cut make_punctuation(const JsonView& spec) {
  return cut_characters(parse_behavior(spec, "behavior"), is_bert_punctuation);
}

/// ByteLevel must be the last rule: what follows it would see other characters in the crate, which
/// maps bytes to its alphabet there.
HfPreTokenizer make_cut_sequence(const JsonView& spec) {
  std::vector<Cut> cuts;
  bool byte_level = false;
  spec.at("pretokenizers").for_elements([&](const JsonView& element) {
    if (byte_level) {
      element.refuse("nothing may follow ByteLevel");
    }
    HfPreTokenizer next = make_hf_pre_tokenizer(element);
    cuts.push_back(std::move(next.cut));
    byte_level = next.byte_level;
  });
  return {[cuts](TextPieces& pieces) {
            for (const Cut& cut : cuts) {
              if (cut) {
                cut(pieces);
              }
            }
          },
          byte_level};
}

template <Cut (*make)(const JsonView&), bool byte_level = false>
HfPreTokenizer make_one(const JsonView& spec) {
  return {make(spec), byte_level};
}

constexpr HfKind<HfPreTokenizer> kPreTokenizers[] = {
    {"Sequence", make_cut_sequence},
    {"ByteLevel", make_one<make_byte_level_cut, true>},
    {"Metaspace", make_one<make_metaspace_cut>},
    {"Split", make_one<make_split>},
    {"Whitespace", make_one<make_whitespace>},
    {"WhitespaceSplit", make_one<make_whitespace_split>},
    {"Digits", make_one<make_digits>},
    {"Punctuation", make_one<make_punctuation>},
    {"BertPreTokenizer", make_one<make_bert_cut>},
    {"CharDelimiterSplit", make_one<make_delimiter>},
};

}  // namespace

HfPreTokenizer make_hf_pre_tokenizer(const JsonView& spec) {
  if (spec.is_null()) {
    return {};
  }
  return kind_of<HfPreTokenizer>(spec, kPreTokenizers, "pre-tokenizer").make(spec);
}

}  // namespace mpitron::tokenizers
