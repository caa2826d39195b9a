#include <utility>
#include <vector>

#include "tokenizers/hugging_face/hf_cuts.h"
#include "tokenizers/hugging_face/hf_pattern.h"
#include "tokenizers/hugging_face/hf_steps.h"
#include "tokenizers/text/unicode_text.h"

// The pre-tokenizers of a tokenizer.json: rules that cut a text into the pieces which the model
// encodes one by one. Kinds, members and their defaults are those of the tokenizers crate.

namespace mpitron::tokenizers {
namespace {

using Behavior = TextPieces::Behavior;
using Cut = HfCut;

Behavior parse_behavior(const JsonView& spec, const char* key) {
  return static_cast<Behavior>(spec.choose(
      key, {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"},
      static_cast<Index>(Behavior::isolated)));
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
      cut_by_gpt2(pieces);
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

Cut make_whitespace(const JsonView&) {
  return cut_words;
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
