#include <gtest/gtest.h>

#include "io/arrays/safetensors.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::io {
namespace safetensors_writer_test {

using test::TemporaryFolder;

TEST(SafetensorsWriter, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  const std::vector<SafetensorsEntry> layout{{"b", ElementType::f32, {2, 3}},
                                             {"a", ElementType::u8, {5}},
                                             {"empty", ElementType::bf16, {0, 7}},
                                             {"scalar", ElementType::i64, {}}};
  std::vector<float> matrix{1, 2, 3, 4, 5, 6};
  const std::vector<std::uint8_t> bytes{9, 8, 7, 6, 5};
  const std::vector<std::int64_t> scalar{-3};
  SafetensorsWriter writer(folder / "x.safetensors", layout, {{"format", "pt"}});
  writer.write(std::as_bytes(std::span(matrix)));
  writer.write(std::as_bytes(std::span(bytes)));
  writer.write(std::as_bytes(std::span(scalar)));
  writer.commit();
  const SafetensorsFile file(folder / "x.safetensors");
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.at("b").shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(file.at("b").as<float>()[4], 5.0f);
  EXPECT_EQ(file.at("a").as<std::uint8_t>()[1], 8);
  EXPECT_EQ(file.at("scalar").as<std::int64_t>()[0], -3);
  EXPECT_TRUE(file.at("empty").data.empty());
  EXPECT_EQ(file.find("c"), nullptr);
  EXPECT_THROW(file.at("c"), Error);
}

}  // namespace safetensors_writer_test

}  // namespace mpitron::io
