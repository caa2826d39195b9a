#include "inference/protocol/metrics.h"

#include <future>

#include <gtest/gtest.h>

#include "inference/protocol/served_model.h"
#include "support/fake_engine.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace metrics_test {

TEST(Metrics, HistogramsCountTimesUpToABound) {
  Histogram times;
  times.add(std::chrono::milliseconds(1));  // the bound itself
  times.add(std::chrono::milliseconds(2));
  times.add(std::chrono::hours(1));
  EXPECT_EQ(times.counts[0], 1);
  EXPECT_EQ(times.counts[1], 1);
  EXPECT_EQ(times.counts.back(), 1);
  EXPECT_NEAR(times.sum, 3600.003, 1e-9);
}

/// Bytes are those that the engine names for a state.
TEST(Metrics, TellKeptStatesAndTheirUses) {
  const tokenizers::NullTokenizer tokenizer(59);
  test::FakeEngine engine({.block_size = 4,
                           .blocks = 64,
                           .slots = 4,
                           .states = 8,
                           .snapshots = 4,
                           .max_positions = 60,
                           .vocabulary = 60,
                           .padded_vocabulary = 64});
  GenerationService service(engine, tokenizer, {.state_least = 4});
  const ServedModel model{.tokenizer = tokenizer, .shape = engine.shape(), .service = service};
  for (int i = 0; i < 2; ++i) {
    const auto answered = std::make_shared<std::promise<void>>();
    service.submit({.requests = {{.prompt = TokenIds(14, 7), .max_tokens = 1}},
                    .answered = [answered](auto, const Answer&) { answered->set_value(); },
                    .failed = {}});
    answered->get_future().wait();
  }
  const auto published = std::make_shared<std::promise<void>>();
  service.run([published] { published->set_value(); });  // behind the last step's counters
  published->get_future().wait();
  const std::string text = metrics(model);
  for (const char* line : {"mpitron_kept_states 1\n", "mpitron_kept_states_bytes 100\n",
                           "mpitron_kept_states_used_total 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace metrics_test
}  // namespace mpitron::inference
