#include "io/arrays/zip_archive.h"

#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::io {
namespace zip_archive_test {

template <class T>
void put(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// An archive with one entry, written field by field from the specification.
std::string archive(const std::string& name, const std::string& content, bool zip64,
                    std::uint16_t method = 0) {
  const auto size = static_cast<std::uint32_t>(content.size());
  const auto in_header = zip64 ? 0xffffffffu : size;
  const auto name_size = static_cast<std::uint16_t>(name.size());
  std::string text = "PK\3\4" + std::string(4, '\0');
  put(text, method);
  text += std::string(8, '\0');
  put(text, size);
  put(text, size);
  put(text, name_size);
  put<std::uint16_t>(text, 5);  // padding, as torch aligns data
  text += name + std::string("FB\1\0Z", 5) + content;
  const auto directory = static_cast<std::uint64_t>(text.size());
  text += "PK\1\2" + std::string(6, '\0');
  put(text, method);
  text += std::string(8, '\0');
  put(text, in_header);
  put(text, in_header);
  put(text, name_size);
  put<std::uint16_t>(text, zip64 ? 28 : 0);
  text += std::string(10, '\0');
  put<std::uint32_t>(text, zip64 ? 0xffffffffu : 0);
  text += name;
  if (zip64) {
    put<std::uint16_t>(text, 1);
    put<std::uint16_t>(text, 24);
    put<std::uint64_t>(text, size);
    put<std::uint64_t>(text, size);
    put<std::uint64_t>(text, 0);
    const auto end = static_cast<std::uint64_t>(text.size());
    text += "PK\6\6" + std::string(28, '\0');
    put<std::uint64_t>(text, 1);
    text += std::string(8, '\0');
    put(text, directory);
    text += "PK\6\7" + std::string(4, '\0');
    put(text, end);
    text += std::string(4, '\0');
  }
  text += "PK\5\6" + std::string(6, '\0');
  put<std::uint16_t>(text, zip64 ? 0xffff : 1);
  text += std::string(4, '\0');
  put(text, zip64 ? 0xffffffffu : static_cast<std::uint32_t>(directory));
  put<std::uint16_t>(text, 0);
  return text;
}

ZipArchive open(const std::string& text) {
  return {std::as_bytes(std::span(text)), "x.zip"};
}

std::string content_of(const std::string& text, const std::string& name) {
  const ZipArchive zip = open(text);
  const auto bytes = zip.at(name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(ZipArchive, GivesStoredEntriesAsViews) {
  for (const bool zip64 : {false, true}) {
    const std::string text = archive("a/data.pkl", "hello", zip64);
    EXPECT_EQ(content_of(text, "a/data.pkl"), "hello");
    EXPECT_THROW(open(text).at("b"), Error);
  }
}

TEST(ZipArchive, RefusesCompressionAndWhatIsNoArchive) {
  EXPECT_THROW(open(archive("a", "hello", false, 8)), Error);
  EXPECT_THROW(open(""), Error);
  EXPECT_THROW(open("PK\5\6"), Error);
  EXPECT_THROW(open(std::string(100, 'x')), Error);
}

/// Every prefix, and every byte set to 0xff: an Error or views inside the bytes.
TEST(ZipArchive, NeverLooksOutside) {
  for (const bool zip64 : {false, true}) {
    const std::string good = archive("a/b", "hello", zip64);
    int refused = 0;
    for (std::size_t i = 0; i < 2 * good.size(); ++i) {
      std::string text = good;
      i < good.size() ? text.resize(i) : void(text[i - good.size()] = '\xff');
      try {
        const ZipArchive zip = open(text);
        for (const auto& [name, bytes] : zip.entries()) {
          EXPECT_GE(reinterpret_cast<const char*>(bytes.data()), text.data());
          EXPECT_LE(reinterpret_cast<const char*>(bytes.data()) + bytes.size(),
                    text.data() + text.size());
        }
      } catch (const Error&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, static_cast<int>(good.size()));
  }
}

}  // namespace zip_archive_test
}  // namespace mpitron::io
