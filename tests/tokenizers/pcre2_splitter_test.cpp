#include "tokenizers/pcre2_splitter.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <gtest/gtest.h>
#include <pcre2.h>

#include "utils/check.h"

namespace mpitron::tokenizers {

struct Pcre2Splitter::State {
  pcre2_code* regex = nullptr;
  pcre2_match_data* match = nullptr;
};

Pcre2Splitter::Pcre2Splitter(std::string_view pattern) : state_(std::make_unique<State>()) {
  int code = 0;
  PCRE2_SIZE offset = 0;
  state_->regex = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                PCRE2_UTF | PCRE2_UCP, &code, &offset, nullptr);
  MPITRON_CHECK(state_->regex != nullptr, code, offset);
  MPITRON_CHECK(pcre2_jit_compile(state_->regex, PCRE2_JIT_COMPLETE) == 0);
  state_->match = pcre2_match_data_create_from_pattern(state_->regex, nullptr);
}

Pcre2Splitter::~Pcre2Splitter() {
  pcre2_match_data_free(state_->match);
  pcre2_code_free(state_->regex);
}

std::vector<std::string> Pcre2Splitter::split(std::string_view text) const {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const int found = pcre2_match(state_->regex, reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), at, 0, state_->match, nullptr);
    MPITRON_CHECK(found > 0, found, at);
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(state_->match);
    pieces.emplace_back(text.substr(ends[0], ends[1] - ends[0]));
    at = ends[1];
  }
  return pieces;
}

TEST(Pcre2Splitter, SplitsTheTextbookExample) {
  const Pcre2Splitter splitter(kGpt2Pattern);
  EXPECT_EQ(splitter.split("Hello world's  end"),
            (std::vector<std::string>{"Hello", " world", "'s", " ", " end"}));
}

}  // namespace mpitron::tokenizers
