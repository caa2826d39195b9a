#include "train/run/exit_signals.h"

#include <gtest/gtest.h>

#include "utils/check.h"

namespace mpitron::train {

TEST(ExitSignals, RemembersTheFirstAndStaysAlive) {
  const ExitSignals signals(true);
  EXPECT_EQ(signals.received(), 0);
  for (const int signal : {SIGHUP, SIGUSR2, SIGTERM, SIGUSR1, SIGTERM, SIGINT}) {
    std::raise(signal);
  }
  EXPECT_EQ(signals.received(), SIGUSR2);
}

TEST(ExitSignals, StartsCleanAndRestoresWhatWasBefore) {
  {
    const ExitSignals signals(true);
    std::raise(SIGUSR1);
    EXPECT_EQ(signals.received(), SIGUSR1);
  }
  struct sigaction now {};
  ::sigaction(SIGUSR1, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
  EXPECT_EQ(ExitSignals(true).received(), 0);
}

TEST(ExitSignals, WhatComesBeforeTheRunCountsOnce) {
  remember_early_signals();
  std::raise(SIGUSR1);
  EXPECT_EQ(ExitSignals(true).received(), SIGUSR1);
  EXPECT_EQ(ExitSignals(true).received(), 0);
  std::signal(SIGUSR1, SIG_DFL);
  std::signal(SIGUSR2, SIG_DFL);
}

TEST(ExitSignalsDeathTest, SecondInterruptEndsAtOnce) {
  EXPECT_EXIT(
      {
        const ExitSignals signals(true);
        std::raise(SIGTERM);
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(ExitSignalsDeathTest, SigtermIsHandledOnlyOnRequest) {
  EXPECT_EXIT(
      {
        const ExitSignals signals(false);
        std::raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(ExitSignals, OneAtATime) {
  const ExitSignals first(true);
  EXPECT_THROW(ExitSignals second(true), InternalError);
}

TEST(ExitSignals, Names) {
  EXPECT_EQ(signal_name(SIGTERM), "SIGTERM");
  EXPECT_EQ(signal_name(SIGUSR2), "SIGUSR2");
  EXPECT_EQ(signal_name(SIGWINCH), "signal " + std::to_string(SIGWINCH));
}

}  // namespace mpitron::train
