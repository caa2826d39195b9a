#include <memory>

#include "tokenizers/hugging_face/hf_pattern.h"
#include "tokenizers/hugging_face/hf_steps.h"
#include "tokenizers/text/byte_alphabet.h"
#include "tokenizers/text/unicode_text.h"

// The decoders of a tokenizer.json: each rewrites the list of tokens, the last step joins it.
// Kinds, members and their defaults are those of the tokenizers crate.

namespace mpitron::tokenizers {
namespace {

using Tokens = std::vector<std::string>;

/// Joins all tokens into one.
void fuse(Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    text += token;
  }
  tokens.assign(1, std::move(text));
}

TokenRule make_byte_level_decoder(const JsonView&) {
  return [](Tokens& tokens) {
    for (std::string& token : tokens) {
      token = alphabet_to_bytes(token);
    }
    fuse(tokens);
  };
}

/// Turns marks into blanks; the first token loses its own unless the encoder puts none in front.
/// Old files say so by add_prefix_space, new ones by prepend_scheme.
TokenRule make_metaspace_decoder(const JsonView& spec) {
  const std::string mark = spec.text("replacement", "\xE2\x96\x81");
  if (mark.empty()) {
    spec.at("replacement").refuse("it must not be empty");
  }
  const bool legacy = spec.boolean("add_prefix_space", true);
  const bool drops =
      spec.choose("prepend_scheme", {"first", "never", "always"}, legacy ? 2 : 1) != 1;
  return [=](Tokens& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], mark, i == 0 && drops ? "" : " ");
    }
  };
}

/// Puts a blank in front of every token that does not continue a word.
TokenRule make_word_piece(const JsonView& spec) {
  const std::string prefix = spec.text("prefix", "##");
  const bool cleanup = spec.boolean("cleanup", true);
  return [=](Tokens& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) {
        tokens[i] =
            tokens[i].starts_with(prefix) ? tokens[i].substr(prefix.size()) : " " + tokens[i];
      }
      if (cleanup) {
        clean_up_spaces(tokens[i]);
      }
    }
  };
}

TokenRule make_bpe(const JsonView& spec) {
  const std::string suffix = spec.text("suffix", "</w>");
  if (suffix.empty()) {
    spec.at("suffix").refuse("it must not be empty");
  }
  return [suffix](Tokens& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], suffix, i + 1 < tokens.size() ? " " : "");
    }
  };
}

TokenRule make_replace_decoder(const JsonView& spec) {
  return [pattern = HfPattern(spec.at("pattern")),
          content = spec.at("content").text()](Tokens& tokens) {
    for (std::string& token : tokens) {
      pattern.replace(token, content);
    }
  };
}

TokenRule make_strip_decoder(const JsonView& spec) {
  const std::string content = spec.at("content").text();
  const Index start = spec.has("start") ? spec.at("start").integer() : 0;
  const Index stop = spec.has("stop") ? spec.at("stop").integer() : 0;
  return [=](Tokens& tokens) {
    for (std::string& token : tokens) {
      for (Index i = 0; i < start && !content.empty() && token.starts_with(content); ++i) {
        token.erase(0, content.size());
      }
      for (Index i = 0; i < stop && !content.empty() && token.ends_with(content); ++i) {
        token.resize(token.size() - content.size());
      }
    }
  };
}

TokenRule make_decoder_sequence(const JsonView& spec) {
  std::vector<TokenRule> rules;
  spec.at("decoders").for_elements([&](const JsonView& element) {
    rules.push_back(make_hf_decoder(element));
  });
  return [rules](Tokens& tokens) {
    for (const TokenRule& rule : rules) {
      if (rule) {
        rule(tokens);
      }
    }
  };
}

constexpr HfKind<TokenRule> kDecoders[] = {
    {"Sequence", make_decoder_sequence},
    {"ByteLevel", make_byte_level_decoder},
    {"Metaspace", make_metaspace_decoder},
    {"WordPiece", make_word_piece},
    {"BPEDecoder", make_bpe},
    {"Replace", make_replace_decoder},
    {"ByteFallback", make_byte_fallback},
    {"Fuse", [](const JsonView&) -> TokenRule { return fuse; }},
    {"Strip", make_strip_decoder},
};

}  // namespace

TokenRule make_hf_decoder(const JsonView& spec) {
  if (spec.is_null()) {
    return {};
  }
  return kind_of<TokenRule>(spec, kDecoders, "decoder").make(spec);
}

}  // namespace mpitron::tokenizers
