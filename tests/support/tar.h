#pragma once
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace mpitron::test {

/// A tar archive (POSIX ustar) of files with these names and contents.
inline std::string tar_of(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string archive;
  for (const auto& [name, content] : files) {
    std::string header(512, '\0');
    header.replace(0, name.size(), name);
    char number[16];
    const auto put = [&](std::size_t at, const char* format, unsigned long value) {
      std::snprintf(number, sizeof(number), format, value);
      header.replace(at, std::string(number).size(), number);
    };
    put(100, "%07lo", 0644);
    put(124, "%011lo", content.size());
    header[156] = '0';
    header.replace(257, 8, std::string("ustar\00000", 8));
    header.replace(148, 8, 8, ' ');
    unsigned long sum = 0;
    for (const char byte : header) {
      sum += static_cast<unsigned char>(byte);
    }
    put(148, "%06lo", sum);
    header[154] = '\0';
    archive += header + content;
    archive.resize((archive.size() + 511) / 512 * 512, '\0');
  }
  return archive + std::string(1024, '\0');
}

}  // namespace mpitron::test
