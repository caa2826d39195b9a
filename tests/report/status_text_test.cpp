#include "report/status_text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mpitron::report {

namespace status_text_test {

using std::chrono::seconds;

RunFolder sample_run() {
  RunFolder run;
  run.name = "gpt";
  run.description = {
      .world_size = 4, .train_iters = 1000, .seq_length = 8, .flops_per_sample = 8e8};
  run.metrics = MetricsLog(
      R"({"step":249,"lm loss":4,"iteration-time":0.5,"tokens-per-second":12345.6,"grad-norm":0.5}
{"step":250,"lm loss":3,"iteration-time":0.5,"tokens-per-second":12345.6,"learning-rate":0.001}
{"step":250,"busy-seconds-min":0.2,"busy-seconds-median":0.2,"busy-seconds-max":0.3}
{"step":250,"slowest-rank":3}
{"step":250,"memory-mib-max":1536}
{"step":250,"lm loss validation":3.25}
)");
  return run;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

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

TEST(StatusJson, HasTheSameFigures) {
  const RunFolder run = sample_run();
  const auto json = nlohmann::json::parse(status_json(run, run.written));
  EXPECT_EQ(json.at("state"), "running");
  EXPECT_EQ(json.at("seconds_left"), 375);
  EXPECT_EQ(json.at("busy_seconds").at("slowest_rank"), 3);
  EXPECT_EQ(json.at("loss"), 3);
  EXPECT_TRUE(nlohmann::json::parse(status_json({}, {})).at("loss").is_null());
}

using Values = std::vector<double>;
using Lines = std::vector<std::string>;

const double kNan = std::nan("");

TEST(BrailleChart, AFallingLine) {
  EXPECT_EQ(braille_chart(Values{7, 6, 5, 4, 3, 2, 1, 0}, 13, 2),
            (Lines{"      7 ┤⠑⢄⠀⠀", "      0 ┤⠀⠀⠑⢄"}));
}

TEST(BrailleChart, JumpsAreStrokesAndMissingValuesGaps) {
  EXPECT_EQ(braille_chart(Values{0, 3, 0, 3}, 11, 1), (Lines{"      3 ┤⡸⡾"}));
  EXPECT_EQ(braille_chart(Values{0, 3, kNan, 3}, 11, 1), (Lines{"      3 ┤⡸⠈"}));
}

TEST(BrailleChart, ManyValuesAreAveragedAndFewAreSpread) {
  Values values;
  for (int i = 0; i < 8000; ++i) {
    values.push_back(7 - i / 1000 + (i % 2 == 0 ? 0.5 : -0.5));
  }
  EXPECT_EQ(braille_chart(values, 13, 2), (Lines{"      7 ┤⠑⢄⠀⠀", "      0 ┤⠀⠀⠑⢄"}));
  EXPECT_EQ(braille_chart(Values{2}, 11, 1), (Lines{"      2 ┤⣀⣀"}));
}

TEST(BrailleChart, NothingToDrawOrNoRoom) {
  EXPECT_TRUE(braille_chart({}, 80, 5).empty());
  EXPECT_TRUE(braille_chart(Values{kNan, INFINITY}, 80, 5).empty());
  EXPECT_TRUE(braille_chart(Values{1, 2}, 9, 5).empty());
  EXPECT_TRUE(braille_chart(Values{1, 2}, 80, 0).empty());
}

}  // namespace status_text_test

}  // namespace mpitron::report
