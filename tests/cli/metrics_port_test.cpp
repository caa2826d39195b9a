#include <filesystem>

#include <gtest/gtest.h>

#include "cli/tiny_run.h"
#include "support/http.h"

namespace mpitron::cli {
namespace metrics_port_test {

using namespace mpitron::test;

/// What the program of this folder has written to stderr.
std::string errors_in(const TemporaryFolder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".err") {
      return read_file(entry.path());
    }
  }
  return "";
}

TEST(MetricsPort, AnswersMonitoringWhileTheRunTrains) {
  const TemporaryFolder folder;
  const RunningProgram endless(
      folder.path(), kTinyMock + Words{"--train-iters", "1000000", "--metrics-port", "0"});
  const std::string words = "/metrics and /healthz at 127.0.0.1 port ";
  ASSERT_TRUE(endless.wait([&] { return contains(errors_in(folder), words); }));
  const std::string errors = errors_in(folder);
  const int port = std::stoi(errors.substr(errors.find(words) + words.size()));
  EXPECT_TRUE(endless.wait([&] {
    const std::string answer = http(port, "GET /metrics HTTP/1.1\r\n\r\n");
    return contains(answer, "\nmegatron_training_iteration ") &&
           !contains(answer, "\nmegatron_training_iteration 0\n") &&
           !contains(answer, "\nmegatron_training_loss 0\n");
  }));
  EXPECT_TRUE(contains(http(port, "GET /healthz HTTP/1.1\r\n\r\n"), " 200 OK\r\n"));
}

}  // namespace metrics_port_test
}  // namespace mpitron::cli
