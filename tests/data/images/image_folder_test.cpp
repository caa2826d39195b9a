#include <gtest/gtest.h>

#include "data/images/image_list.h"
#include "support/drawn_images.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::data {
namespace image_folder_test {

std::vector<std::string> names(const ImageFolder& folder) {
  std::vector<std::string> result;
  for (Index image = 0; image < folder.size(); ++image) {
    const std::filesystem::path path = folder.name(image);
    result.push_back(path.parent_path().filename().string() + "/" + path.filename().string());
  }
  return result;
}

TEST(ImageFolder, ClassesAndFilesAreSortedAndOtherFilesLeftOut) {
  const test::TemporaryFolder root;
  for (const char* name : {"b/2.ppm", "b/1.PNG", "b/z/0.jpg", "b/notes.txt", "a/9.webp"}) {
    test::write_file(root / name, "x");
  }
  std::filesystem::create_directories(root / "c");
  const ImageFolder folder(root.path());
  EXPECT_EQ(folder.classes(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(names(folder), (std::vector<std::string>{"a/9.webp", "b/1.PNG", "b/2.ppm", "z/0.jpg"}));
  EXPECT_EQ(folder.label(3), 1);
}

TEST(ImageFolder, SharesAreCutDown) {
  const test::TemporaryFolder root;
  for (const char* name : {"a/1.png", "a/2.png", "a/3.png", "b/1.png", "c/1.png"}) {
    test::write_file(root / name, "x");
  }
  const ImageFolder folder(root.path(), {.classes = 0.7, .images = 0.5});
  EXPECT_EQ(folder.classes().size(), 2u);
  EXPECT_EQ(names(folder), (std::vector<std::string>{"a/1.png"}));
}

TEST(ImageFolder, AFolderWithoutClassesIsNamed) {
  const test::TemporaryFolder root;
  test::write_file(root / "1.png", "x");
  try {
    const ImageFolder folder(root.path());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("0 classes"), std::string::npos) << error.what();
  }
  EXPECT_THROW(ImageFolder(root / "nothing"), Error);
}

}  // namespace image_folder_test
}  // namespace mpitron::data
