#include "inference/protocol/served_beams.h"

#include <future>

#include <gtest/gtest.h>

#include "inference/scheduling/beam_requests.h"
#include "support/fake_engine.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace served_beams_test {

constexpr EngineShape kShape{.block_size = 4,
                             .blocks = 64,
                             .slots = 3,
                             .max_step_tokens = 64,
                             .max_positions = 100,
                             .vocabulary = 60,
                             .padded_vocabulary = 64};
constexpr BeamRule kRule{.width = 4, .tokens = 5, .stop = 59};
const tokenizers::NullTokenizer kTokenizer(59);

/// More beams than slots, beside other searches: each finds what it finds alone.
TEST(ServedBeams, FindWhatASearchAloneFinds) {
  test::FakeEngine alone(kShape);
  Generator generator(alone, kTokenizer, {});
  test::FakeEngine engine(kShape);
  GenerationService service(engine, kTokenizer, {});
  std::vector<std::future<std::vector<Hypothesis>>> found;
  for (const TokenId first : {1, 2, 3}) {
    auto promise = std::make_shared<std::promise<std::vector<Hypothesis>>>();
    found.push_back(promise->get_future());
    search_beams(service, {.prompt = {first, 7}}, kRule,
                 {.found = [promise](const auto& best) { promise->set_value(best); },
                  .failed = [](int, const std::string& text) { FAIL() << text; }});
  }
  for (const TokenId first : {1, 2, 3}) {
    const auto expected = search_beams(generator, {first, 7}, kRule);
    const auto got = found[static_cast<std::size_t>(first) - 1].get();
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].tokens, expected[i].tokens);
      EXPECT_EQ(got[i].score, expected[i].score);
    }
  }
}

TEST(ServedBeams, EndWhenTheClientLeaves) {
  test::FakeEngine engine(kShape);
  GenerationService service(engine, kTokenizer, {});
  const auto leave = search_beams(service, {.prompt = {1}}, {.width = 2, .tokens = 90, .stop = 59},
                                  {.found = [](const auto&) { FAIL(); }, .failed = {}});
  leave();
  while (service.open_groups() > 0) {
    std::this_thread::yield();
  }
}

}  // namespace served_beams_test
}  // namespace mpitron::inference
