#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "utils/system/files.h"

namespace mpitron {
namespace write_all_test {

TEST(WriteAll, WritesMoreThanAPipeHoldsAtOnce) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string text = std::string(1 << 20, 'x') + "end";
  std::string read;
  std::thread reader([&] {
    std::array<char, 4096> some;
    for (ssize_t n = ::read(ends[0], some.data(), some.size()); n > 0;
         n = ::read(ends[0], some.data(), some.size())) {
      read.append(some.data(), static_cast<std::size_t>(n));
    }
  });
  EXPECT_TRUE(write_all(ends[1], text));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_TRUE(read == text);
}

TEST(WriteAll, SaysWhyItCannot) {
  EXPECT_TRUE(write_all(-1, ""));
  EXPECT_FALSE(write_all(-1, "x"));
  EXPECT_EQ(errno, EBADF);
}

}  // namespace write_all_test
}  // namespace mpitron
