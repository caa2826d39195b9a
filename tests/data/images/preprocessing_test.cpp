// Decoding and transforms against what PIL made of the same files.
#include <filesystem>
#include <regex>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/codecs/decode.h"
#include "images/transforms/affine.h"
#include "images/transforms/blur.h"
#include "images/transforms/colour.h"
#include "images/transforms/resample.h"
#include "images/transforms/tiles.h"
#include "io/arrays/safetensors.h"
#include "support/golden_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron {
namespace preprocessing_test {

using namespace images;

std::string folder() {
  return test::golden_folder() + "/vision/preprocess/";
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (const std::filesystem::path& part : std::filesystem::path(name)) {
    parts.push_back(part.string());
  }
  return parts;
}

/// What a case's name asks for, of a.png.
Image transformed(const Image& image, const std::vector<std::string>& words) {
  const std::string& name = words[0];
  const double number = words.size() == 2 ? std::stod(words[1]) : 0;
  if (name == "resize" || name == "crop_resize") {
    const Filter filter = words[1] == "bilinear" ? Filter::bilinear : Filter::bicubic;
    std::smatch size;
    std::regex_match(words.back(), size, std::regex("(\\d+)x(\\d+)"));
    const Box box = name == "resize" ? whole(image) : Box{7, 5, 40, 31};
    return resize(image, box, {std::stol(size[1]), std::stol(size[2])}, filter);
  }
  return name == "blur"           ? blurred(image, number)
         : name == "solarize"     ? solarised(image, number)
         : name == "posterize"    ? posterised(image, static_cast<int>(number))
         : name == "autocontrast" ? autocontrasted(image)
         : name == "equalize"     ? equalised(image)
         : name == "invert"       ? inverted(image)
         : name == "grey"         ? grey(image)
         : name == "color"        ? saturated(image, number)
         : name == "contrast"     ? contrasted(image, number)
         : name == "brightness"   ? brightened(image, number)
         : name == "sharpness"    ? sharpened(image, number)
         : name == "hue"          ? hue_shifted(image, number)
         : name == "shearX"       ? sheared(image, number)
         : name == "rotate"       ? rotated(image, number)
                                  : throw std::runtime_error("no transform " + name);
}

/// The largest difference between an image and recorded numbers [h, w, 3] or [h, w].
Index largest_difference(const Image& image, const io::SafetensorsFile::Tensor& recorded) {
  EXPECT_EQ(recorded.shape[0], image.height);
  EXPECT_EQ(recorded.shape[1], image.width);
  const auto expected = recorded.as<std::int32_t>();
  const Index step = static_cast<Index>(image.pixels.size()) / expected.size();
  Index worst = 0;
  for (Index i = 0; i < expected.size(); ++i) {
    const Index value = image.pixels[static_cast<std::size_t>(i * step)];
    worst = std::max(worst, std::abs(value - static_cast<Index>(expected[i])));
  }
  return worst;
}

TEST(Preprocessing, IsPilsToTheBit) {
  if (!std::filesystem::exists(folder())) {
    GTEST_SKIP() << "no " << folder() << " (set MPITRON_GOLDEN_DIR)";
  }
  const io::SafetensorsFile expected(folder() + "expected.safetensors");
  const Image original = read_image(folder() + "a.png");
  for (const auto& [name, recorded] : expected.tensors()) {
    SCOPED_TRACE(name);
    const std::vector<std::string> words = parts_of(name);
    // PIL makes 16-bit grey almost white; here the high byte is taken.
    if (name == "decode/grey16.png") {
      continue;
    }
    const bool decodes = words[0] == "decode";
    const Image made = decodes ? read_image(folder() + words[1]) : transformed(original, words);
    EXPECT_EQ(largest_difference(made, recorded), 0);
  }
}

/// Grids as [columns, rows]; of two that tie, the reference takes one by the order of a hash table.
TEST(Preprocessing, GridsOfTilesAreTheReferences) {
  if (!std::filesystem::exists(folder())) {
    GTEST_SKIP() << "no " << folder() << " (set MPITRON_GOLDEN_DIR)";
  }
  for (const nlohmann::json& row : nlohmann::json::parse(read_file(folder() + "tiles.json"))) {
    for (const bool weighted : {false, true}) {
      const nlohmann::json& expected = row.at(weighted ? "area_weighted" : "closest");
      const TileGrid grid = choose_grid(
          {row.at("width"), row.at("height")},
          {.tile = row.at("tile"), .most_tiles = row.at("max_tiles"), .area_weighted = weighted});
      EXPECT_EQ(grid, (TileGrid{expected.at(0), expected.at(1)})) << row.dump() << weighted;
    }
  }
}

TEST(Preprocessing, DamagedFilesAreRefusedByName) {
  if (!std::filesystem::exists(folder())) {
    GTEST_SKIP() << "no " << folder() << " (set MPITRON_GOLDEN_DIR)";
  }
  for (const char* file : {"truncated.jpg", "empty.jpg"}) {
    try {
      read_image(folder() + file);
      ADD_FAILURE() << file;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
    }
  }
}

TEST(Preprocessing, RotationByExifIsToldAndNotDone) {
  if (!std::filesystem::exists(folder())) {
    GTEST_SKIP() << "no " << folder() << " (set MPITRON_GOLDEN_DIR)";
  }
  EXPECT_EQ(read_image(folder() + "exif6.jpg").orientation, 6);
  EXPECT_EQ(read_image(folder() + "a.jpg").orientation, 1);
}

}  // namespace preprocessing_test
}  // namespace mpitron
