#include "models/vit/position_table.h"

#include <filesystem>
#include <regex>

#include <gtest/gtest.h>

#include "io/arrays/safetensors.h"
#include "support/golden_folder.h"
#include "utils/error.h"

namespace mpitron::models {
namespace position_table_test {

TEST(PositionTable, ClassRowsStayAndTheGridIsResized) {
  const config::VisionConfig vision{
      .image_height = 4, .image_width = 4, .patch = 1, .class_tokens = 2};
  const std::vector<float> table{8, 9, 0, 1, 2, 3};
  const std::vector<float> resized = resized_positions(table, 6, vision);
  ASSERT_EQ(resized.size(), 18u);
  EXPECT_EQ(std::vector<float>(resized.begin(), resized.begin() + 6),
            (std::vector<float>{8, 9, 0, 0.25, 0.75, 1}));
  EXPECT_EQ(resized.back(), 3);
  EXPECT_EQ(resized_positions({0, 1, 2, 3}, 4, vision)[0], 0);
  EXPECT_THROW(resized_positions({0, 1, 2, 3, 4}, 5, vision), Error);
}

TEST(PositionTable, GridsAreResizedAsTheReferenceDoes) {
  const std::string path = test::golden_folder() + "/vision/preprocess/positions.safetensors";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "no " << path << " (set MPITRON_GOLDEN_DIR)";
  }
  const io::SafetensorsFile file(path);
  for (const auto& [name, recorded] : file.tensors()) {
    std::smatch sizes;
    if (!std::regex_match(name, sizes, std::regex("in_(\\d+)_to_(\\d+)x(\\d+)"))) {
      continue;
    }
    SCOPED_TRACE(name);
    const auto values_of = [](const io::SafetensorsFile::Tensor& tensor) {
      const auto values = tensor.as<float>();
      std::vector<float> result;
      for (Index i = 0; i < values.size(); ++i) {
        result.push_back(values[i]);
      }
      return result;
    };
    const config::VisionConfig vision{.image_height = std::stol(sizes[2]),
                                      .image_width = std::stol(sizes[3]),
                                      .patch = 1,
                                      .class_tokens = 0};
    const std::vector<float> resized =
        resized_positions(values_of(recorded), recorded.shape.at(0), vision);
    const std::vector<float> expected = values_of(file.at("out" + name.substr(2)));
    ASSERT_EQ(resized.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(resized[i], expected[i], 2e-6);
    }
  }
}

}  // namespace position_table_test
}  // namespace mpitron::models
