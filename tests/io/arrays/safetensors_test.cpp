#include "io/arrays/safetensors.h"

#include <cstring>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::io {
namespace safetensors_test {

using test::message_of;
using test::TemporaryFolder;

std::string file_text(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string text(reinterpret_cast<const char*>(&length), sizeof(length));
  return text + header + std::string(data_bytes, '\1');
}

constexpr const char* kTwoTensors =
    R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})";

TEST(Safetensors, ReadsEveryReferenceFile) {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::golden_folder())) {
    if (entry.path().extension() == ".safetensors") {
      EXPECT_FALSE(SafetensorsFile(entry.path()).tensors().empty()) << entry.path();
      ++count;
    }
  }
  EXPECT_GT(count, 0);
}

TEST(Safetensors, RefusesBadHeaders) {
  const TemporaryFolder folder;
  const auto opened = [&](const std::string& text) {
    test::write_bytes(folder / "x", text);
    return message_of([&] { SafetensorsFile{folder / "x"}; });
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string header = kTwoTensors;
    header.replace(header.find(from), from.size(), to);
    return opened(file_text(header, 16));
  };
  EXPECT_EQ(opened(file_text(kTwoTensors, 16)), "");
  EXPECT_NE(opened(file_text(kTwoTensors, 15)).find("tensor b"), std::string::npos);
  EXPECT_NE(opened(file_text(kTwoTensors, 17)).find("cover 16 of 17"), std::string::npos);
  EXPECT_NE(opened("1234567").find("truncated"), std::string::npos);
  EXPECT_NE(opened(file_text("[]", 0)).find("JSON object"), std::string::npos);
  EXPECT_NE(opened(file_text(R"({"__metadata__":{"a":1}})", 0)).find("found number a"),
            std::string::npos);
  EXPECT_NE(opened(file_text(R"({"__metadata__":["a"]})", 0)).find("an object of texts"),
            std::string::npos);
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_NE(opened(file_text(R"({"__metadata__":{"a":)" + nested + "}}", 0)).find("JSON object"),
            std::string::npos);
  EXPECT_NE(opened(file_text(R"({"t":{"dtype":"F32","shape":)" + nested +
                                 R"(,"data_offsets":[0,0]},"u":1,"v":1})",
                             0))
                .find("JSON object"),
            std::string::npos);
  EXPECT_NE(changed("F32", "F33").find("tensor a"), std::string::npos);
  EXPECT_NE(changed("[2]", "[3]").find("tensor a"), std::string::npos);
  EXPECT_NE(changed("[2]", "[-2]").find("tensor a"), std::string::npos);
  EXPECT_NE(changed("[2]", "[4611686018427387904,4]").find("tensor a"), std::string::npos);
  EXPECT_NE(changed("[8,16]", "[16,8]").find("tensor b"), std::string::npos);
  EXPECT_NE(changed("[8,16]", "[4,12]").find("overlap"), std::string::npos);
}

TEST(Safetensors, MutationsNeverCrash) {
  const TemporaryFolder folder;
  test::for_each_mutation(file_text(kTwoTensors, 16), 5000, [&](const std::string& bytes) {
    test::write_bytes(folder / "x", bytes);
    try {
      const SafetensorsFile file(folder / "x");
      for (const auto& [name, tensor] : file.tensors()) {
        EXPECT_EQ(static_cast<std::size_t>(checked_numel(tensor)) * size_of(tensor.type),
                  tensor.data.size());
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
    }
  });
}

}  // namespace safetensors_test

}  // namespace mpitron::io
