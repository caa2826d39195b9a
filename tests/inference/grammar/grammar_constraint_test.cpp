#include "inference/grammar/grammar_constraint.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/grammar/grammar_walk.h"

namespace mpitron::inference {
namespace grammar_constraint_test {

/// Ids 0 to 255 are bytes, the others these texts, the last the end.
class TextTokens : public tokenizers::Tokenizer {
 public:
  std::string_view name() const override { return "TextTokens"; }
  tokenizers::TokenizerIdentity identity() const override { return {}; }
  std::string fingerprint() const override { return ""; }
  Index vocab_size() const override { return 256 + std::ssize(kTexts) + 1; }
  TokenId eod() const override { return static_cast<TokenId>(vocab_size()) - 1; }
  std::vector<std::filesystem::path> files() const override { return {}; }
  void encode(std::string_view, Cache&, tokenizers::TokenIds&) const override {}
  std::string decode(std::span<const TokenId> ids) const override {
    std::string text;
    for (const TokenId id : ids) {
      text += id < 256      ? std::string(1, static_cast<char>(id))
              : id == eod() ? "<end>"
                            : std::string(kTexts[id - 256]);
    }
    return text;
  }

 private:
  static constexpr std::string_view kTexts[] = {"{\"",      "\":",  "\": ", "name", "true",
                                                "123",      "12",   "name", "\"}",  " \u00e4",
                                                "\xe4\xb8", ", \"", "age"};
};

bool in_mask(TokenMask mask, TokenId id) {
  const auto i = static_cast<std::size_t>(id);
  return (mask[i / 64] >> i % 64 & 1) != 0;
}

std::vector<TokenId> ids_of(TokenMask mask) {
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < 64 * std::ssize(mask); ++id) {
    if (in_mask(mask, id)) {
      ids.push_back(id);
    }
  }
  return ids;
}

class GrammarConstraint : public testing::Test {
 protected:
  std::shared_ptr<CompiledGrammar> compiled(const Grammar& grammar) {
    return std::make_shared<CompiledGrammar>(grammar, trie_);
  }
  TextTokens tokenizer_;
  std::shared_ptr<const TokenTrie> trie_ = std::make_shared<const TokenTrie>(tokenizer_);
  TokenId end_ = tokenizer_.eod();
};

TEST_F(GrammarConstraint, AllowsExactlyTheTokensThatFit) {
  const auto grammar = compiled({{regex_pattern("na(me)?|12")}});
  const auto constraint = grammar->constrain({end_});
  EXPECT_EQ(ids_of(constraint->allowed()), (std::vector<TokenId>{'1', 'n', 259, 262, 263}));
  constraint->take('n');
  EXPECT_EQ(ids_of(constraint->allowed()), (std::vector<TokenId>{'a'}));
  constraint->take('a');
  EXPECT_EQ(ids_of(constraint->allowed()), (std::vector<TokenId>{'m', end_}));
  EXPECT_FALSE(constraint->complete());
  const auto another = grammar->constrain({end_});
  EXPECT_EQ(ids_of(another->allowed()).size(), 5u);
  another->take(262);
  EXPECT_EQ(ids_of(another->allowed()), (std::vector<TokenId>{end_}));
  EXPECT_TRUE(another->complete());
}

TEST_F(GrammarConstraint, WritesHalvesOfCharacters) {
  const auto constraint = compiled({{regex_pattern("[\u4e00-\u9fff]")}})->constrain({end_});
  const std::vector<TokenId> first = ids_of(constraint->allowed());
  EXPECT_TRUE(std::ranges::find(first, 266) != first.end());  // e4 b8
  constraint->take(266);
  for (const TokenId id : ids_of(constraint->allowed())) {
    EXPECT_TRUE(id >= 0x80 && id <= 0xBF);
  }
}

TEST_F(GrammarConstraint, MasksAreWhatOneWouldFindByTrying) {
  const Grammar grammar = schema_grammar(
      R"({"properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
          "required": ["name"]})");
  const auto shared = compiled(grammar);
  std::mt19937_64 random(6);
  for (int round = 0; round < 50; ++round) {
    const auto constraint = shared->constrain({end_});
    ByteAutomaton automaton(test::network_of(grammar));
    std::string text;
    for (int step = 0; step < 60 && !constraint->complete(); ++step) {
      const std::vector<TokenId> ids = ids_of(constraint->allowed());
      ASSERT_FALSE(ids.empty());
      for (TokenId id = 0; id < end_; ++id) {
        ByteAutomaton::State state = automaton.start();
        for (const char c : text + trie_->bytes(id)) {
          state = state < 0 ? state : automaton.next(state, static_cast<unsigned char>(c));
        }
        ASSERT_EQ(std::ranges::binary_search(ids, id), state >= 0) << text << " " << id;
      }
      const TokenId id = ids[random() % ids.size()];
      if (id == end_) {
        break;
      }
      constraint->take(id);
      text += trie_->bytes(id);
    }
    if (constraint->complete()) {
      EXPECT_TRUE(nlohmann::json::accept(text)) << text;
    }
  }
}

TEST_F(GrammarConstraint, GoesOnWhereAFullAutomatonIsReplaced) {
  const auto grammar = compiled(object_grammar());
  const auto constraint = grammar->constrain({end_});
  for (int i = 0; i < 1'000; ++i) {
    for (const char c : std::string_view("{\"a\":")) {
      ASSERT_TRUE(in_mask(constraint->allowed(), c)) << i;
      constraint->take(c);
    }
  }
  constraint->take('1');
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_FALSE(constraint->complete());
    ASSERT_TRUE(in_mask(constraint->allowed(), '}')) << i;
    constraint->take('}');
  }
  EXPECT_TRUE(constraint->complete());
}

}  // namespace grammar_constraint_test
}  // namespace mpitron::inference
