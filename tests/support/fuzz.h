#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "utils/error.h"

/// Readers of files against damaged files: each either reads one, or says what is wrong with it.
namespace mpitron::test {

/// A text with one to four damages: bytes, runs or numbers replaced, removed, doubled or put in
/// from elsewhere; sometimes cut.
inline std::string damaged(std::string content, std::mt19937_64& random) {
  for (std::size_t n = 1 + random() % 4; n > 0 && !content.empty(); --n) {
    const std::size_t at = random() % content.size();
    const std::size_t size = std::min<std::size_t>(1 + random() % 12, content.size() - at);
    switch (random() % 6) {
      case 0:
        content[at] = static_cast<char>(random());
        break;
      case 1:
        content.erase(at, size);
        break;
      case 2:
        content.insert(at, content.substr(at, size));
        break;
      case 3:
        content.insert(at, content.substr(random() % content.size(), size));
        break;
      case 4:
        content[at] = "0123456789\"{}[]:,= \n\\"[random() % 21];
        break;
      default:
        content.resize(random() % 20 == 0 ? at : content.size());
    }
  }
  return content;
}

/// How long a fuzzer runs: so many rounds, the same every time, and then on until the seconds are
/// over. `make test` takes the seconds from MPITRON_FUZZ_SECONDS, which .ci/run sets.
struct FuzzLength {
  int rounds = 0;
  double seconds = 0;

  static FuzzLength of_ci(int rounds) {
    const char* seconds = std::getenv("MPITRON_FUZZ_SECONDS");
    return {rounds, seconds != nullptr ? std::atof(seconds) : 0.0};
  }
};

/// Calls `take` with damaged copies of the originals. It takes one or throws Error(data) with a
/// message; neither any other exception nor a failed expectation is allowed, nor that all copies
/// end in the same way.
template <class Take>
void fuzz(const std::vector<std::string>& originals, const FuzzLength& length, Take&& take) {
  std::mt19937_64 random(23);
  int refused = 0, taken = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(length.seconds);
  for (int round = 0; (round < length.rounds || std::chrono::steady_clock::now() < end) &&
                      !::testing::Test::HasFailure();
       ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::string content = damaged(originals[random() % originals.size()], random);
    try {
      take(content);
      ++taken;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data) << error.what();
      EXPECT_STRNE(error.what(), "");
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  std::printf("%d taken, %d refused\n", taken, refused);
  EXPECT_GT(refused, length.rounds / 100);
  EXPECT_GT(taken, 0);
}

}  // namespace mpitron::test
