#include "train/log/metrics_endpoint.h"

#include <gtest/gtest.h>

#include "support/http.h"

namespace mpitron::train {
namespace metrics_endpoint_test {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LiveMetrics, IsHealthyWhileIterationsEnd) {
  LiveMetrics live(10);
  EXPECT_EQ(live.answer("/healthz", 9).status, 200) << "it starts";
  EXPECT_EQ(live.answer("/healthz", 11).status, 503);
  live.finished({.iteration = 3, .train_iters = 8}, 20);
  EXPECT_EQ(live.answer("/healthz", 30).status, 200);
  const io::HttpAnswer late = live.answer("/healthz", 31);
  EXPECT_EQ(late.status, 503);
  EXPECT_EQ(late.body, "unhealthy: iteration 3 of 8, the last one ended 11 s ago\n");
  EXPECT_EQ(live.answer("/", 31).status, 404);
}

TEST(LiveMetrics, TellsTheLastIteration) {
  LiveMetrics live(10);
  live.finished({.iteration = 1, .loss = 4, .skipped = true}, 0);
  live.finished({.iteration = 2, .consumed_tokens = 64, .seconds = 0.25, .loss = 3.5}, 1);
  std::string text = live.answer("/metrics", 1).body;
  EXPECT_TRUE(has(text, "\nmegatron_training_iteration 2\n")) << text;
  EXPECT_TRUE(has(text, "\nmegatron_training_loss 3.5\n")) << text;
  EXPECT_TRUE(has(text, "\nmegatron_training_step_duration_ms 250\n")) << text;
  EXPECT_TRUE(has(text, "\nmegatron_training_consumed_tokens_total 64\n")) << text;
  EXPECT_TRUE(has(text, "\nmegatron_training_skipped_iters_total 1\n")) << text;
  EXPECT_FALSE(has(text, "validation")) << text;
  live.validated(3.25);
  text = live.answer("/metrics", 1).body;
  EXPECT_TRUE(has(text, "\nmegatron_training_validation_loss 3.25\n")) << text;
}

TEST(MetricsEndpoint, AnswersOverHttp) {
  constexpr double kHour = 3600;
  MetricsEndpoint endpoint("127.0.0.1", 0, kHour);
  endpoint.finished({.iteration = 5});
  const std::string metrics = test::http(endpoint.port(), "GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(has(metrics, "text/plain; version=0.0.4")) << metrics;
  EXPECT_TRUE(has(metrics, "megatron_training_iteration 5\n")) << metrics;
  EXPECT_TRUE(has(test::http(endpoint.port(), "GET /healthz HTTP/1.1\r\n\r\n"), " 200 OK\r\n"));
}

}  // namespace metrics_endpoint_test
}  // namespace mpitron::train
