#include "utils/log.h"

#include <cstdio>
#include <cstdlib>
#include <regex>

#include <gtest/gtest.h>

namespace mpitron {
namespace log_test {

class Log : public ::testing::Test {
 protected:
  void TearDown() override {
    log::set_rank(0);
    log::set_level(log::Level::info);
  }
};

template <class Action>
std::string stderr_of(Action&& action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

template <class Action>
std::string stdout_of(Action&& action) {
  ::testing::internal::CaptureStdout();
  action();
  return ::testing::internal::GetCapturedStdout();
}

TEST_F(Log, MessagesGoToStderrWithTimeAndLevel) {
  const std::string text = stderr_of([] { log::warning("{} of {}", 1, 2); });
  const std::regex line(R"(\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] warning: 1 of 2\n)");
  EXPECT_TRUE(std::regex_match(text, line)) << text;
  EXPECT_EQ(stdout_of([] { stderr_of([] { log::error("e"); }); }), "");
}

TEST_F(Log, ResultsGoToStdoutUnchanged) {
  EXPECT_EQ(stdout_of([] { log::print(" {0} \t{{}} %s"); }), " {0} \t{{}} %s\n");
}

TEST_F(Log, WhatATerminalWouldObeyIsReplaced) {
  EXPECT_EQ(stdout_of([] { log::print("a\x1b[2Jb"); }), "a\xef\xbf\xbd[2Jb\n");
  const std::string text = stderr_of([] { log::warning("{}", "a\x1b]0;title\x07"); });
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST_F(Log, AMessageWithBracesIsText) {
  const std::string text = stderr_of([] { log::write(log::Level::error, "bad {json}"); });
  EXPECT_NE(text.find("bad {json}"), std::string::npos) << text;
}

TEST_F(Log, TheLevelCutsOff) {
  EXPECT_EQ(stderr_of([] { log::debug("hidden"); }), "");
  log::set_level(log::Level::error);
  EXPECT_EQ(stderr_of([] { log::warning("hidden"); }), "");
  EXPECT_NE(stderr_of([] { log::error("seen"); }), "");
  log::set_level(log::Level::debug);
  EXPECT_NE(stderr_of([] { log::debug("seen"); }), "");
}

TEST_F(Log, OtherRanksSayOnlyWarningsAndOnce) {
  log::set_rank(3);
  EXPECT_EQ(stdout_of([] { log::print("result"); }), "");
  EXPECT_EQ(stderr_of([] { log::info("progress"); }), "");
  EXPECT_NE(stderr_of([] { log::warning("odd file a"); }), "");
  EXPECT_EQ(stderr_of([] { log::warning("odd file a"); }), "");
  EXPECT_NE(stderr_of([] { log::warning("odd file b"); }), "");
}

}  // namespace log_test
}  // namespace mpitron
