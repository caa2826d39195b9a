#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Which part of a folder of images is used.
struct FolderShare {
  double classes = 1;  // of the classes, the first ones
  double images = 1;   // of each class, the first ones
};

/// Images below ROOT/CLASS/, in a fixed order: classes by the bytes of their names, in a class each
/// folder's own files before the next folder, all sorted.
struct ImageFolder {
  struct File {
    std::filesystem::path path;
    Index label = 0;
  };
  std::vector<std::string> classes;  // a label is its place here
  std::vector<File> files;
};

/// Lists the folder; Error(data) where it holds no class or no image.
ImageFolder list_image_folder(const std::filesystem::path& root, const FolderShare& share = {});

}  // namespace mpitron::data
