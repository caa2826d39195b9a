#include "report/status_text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "report/sample_status.h"

namespace mpitron::report {
namespace status_text_test {

using std::chrono::seconds;

TEST(StatusText, SaysHowFarAndHowFast) {
  const RunFolder run = sample_run();
  const std::string text = status_text(run, run.written, 80);
  EXPECT_TRUE(has(text, "gpt · running · iteration 250 of 1 000 · 6 min 15 s left\n")) << text;
  EXPECT_TRUE(has(text, "█░")) << text;
  EXPECT_TRUE(has(text, " 25 %\n")) << text;
  EXPECT_TRUE(has(text, "0.5 s per iteration · 12 346 tokens/s")) << text;
  EXPECT_TRUE(
      has(text, "loss 3.0000 · validation 3.2500 at 250 · grad norm 0.5 · learning rate 0.001\n"))
      << text;
  EXPECT_TRUE(has(text, "4 ranks busy for 0.2 to 0.3 s · all wait for rank 3, 1.50 x the median"));
  EXPECT_TRUE(has(status_text(run, run.written, 120), " · memory 1.50 GiB\n"));
  EXPECT_TRUE(has(text, "      4 ┤")) << text;
  EXPECT_TRUE(has(text, "      3 ┤")) << text;
}

TEST(StatusText, FitsTheTerminal) {
  const RunFolder run = sample_run();
  for (const int columns : {1, 10, 40, 200}) {
    std::istringstream lines(status_text(run, run.written, columns));
    for (std::string line; std::getline(lines, line);) {
      const auto width = std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
      });
      EXPECT_LE(width, columns) << line;
    }
  }
}

TEST(StatusText, GoesOnBelowWhereTheTerminalIsNarrow) {
  const RunFolder run = sample_run();
  const std::string text = status_text(run, run.written, 50);
  EXPECT_TRUE(has(text, "loss 3.0000 · validation 3.2500 at 250\n")) << text;
  EXPECT_TRUE(has(text, "\ngrad norm 0.5 · learning rate 0.001\n")) << text;
}

TEST(StatusText, LeavesOutWhatIsUnknown) {
  RunFolder run;
  run.name = "empty";
  EXPECT_EQ(status_text(run, run.written, 80), "empty · running · iteration 0");
  EXPECT_TRUE(
      has(status_text(run, run.written + seconds(3600), 80), "silent: nothing new for 1 h 00 min"));
  run.state = {.state = "failed-fatal", .reason = "no space left", .written = run.written};
  EXPECT_EQ(status_text(run, run.written, 80), "empty · failed-fatal · iteration 0\nno space left");
}

}  // namespace status_text_test

}  // namespace mpitron::report
