#include "train/log/progress_bar.h"

#include <array>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "utils/timer.h"

namespace mpitron::train {

TEST(ProgressBar, RendersRateAndRemainingTime) {
  const ProgressState state{
      .done = 420, .total = 1000, .rate = 3.2, .unit = "it", .note = "loss 2.31"};
  EXPECT_EQ(render_progress(state, 200),
            " 42% [########............] 420/1000 | 3.2 it/s | ETA 0:03:01 | loss 2.31");
  EXPECT_EQ(render_progress(state, 20).size(), 20U);
}

TEST(ProgressBar, RendersTheEdges) {
  EXPECT_EQ(render_progress({.done = 0, .total = 10}, 80), "  0% [....................] 0/10");
  EXPECT_EQ(render_progress({.done = 10, .total = 10}, 80), "100% [####################] 10/10");
  EXPECT_EQ(render_progress({.done = 12, .total = 10, .rate = 1}, 80),
            "100% [####################] 12/10 | 1 it/s | ETA 0:00:00");
  EXPECT_EQ(render_progress({.done = 5, .total = 0}, 80), "  0% [....................] 5/0");
}

TEST(ProgressBar, Durations) {
  EXPECT_EQ(format_duration(0.4), "0:00:00");
  EXPECT_EQ(format_duration(3723), "1:02:03");
  EXPECT_EQ(format_duration(2 * 86400 + 3 * 3600 + 4 * 60 + 5), "2d 03:04:05");
}

TEST(ProgressBar, WritesNothingToAFile) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    ProgressBar bar(10, "it", 0, file);
    bar.update(5);
    bar.update(10);
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

TEST(ProgressBar, DrawsOnATerminalAndLeavesNoTrace) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  std::FILE* stream = std::fopen(::ptsname(terminal), "w");
  ASSERT_NE(stream, nullptr);
  bool too_soon = false;
  {
    ProgressBar bar(10, "it", 0, stream);
    const Timer between;
    bar.update(3);
    bar.update(4);
    too_soon = between.seconds() < 0.1;  // else the machine was busy, and 4 may be drawn
  }
  std::string shown;
  while (!shown.ends_with("\r\x1b[K")) {  // what was drawn at two times may come in two readings
    std::array<char, 512> text{};
    const ssize_t n = ::read(terminal, text.data(), text.size());
    ASSERT_GT(n, 0) << shown;
    shown.append(text.data(), static_cast<std::size_t>(n));
  }
  EXPECT_NE(shown.find(" 30% [######..............] 3/10"), std::string::npos) << shown;
  EXPECT_TRUE(!too_soon || shown.find("4/10") == std::string::npos) << shown;
  std::fclose(stream);
  ::close(terminal);
}

}  // namespace mpitron::train
