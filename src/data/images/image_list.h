#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "images/codecs/decode.h"
#include "utils/system/files.h"

namespace mpitron::data {

/// A part of a set of images: the first classes, and the first images of each.
struct ImageShare {
  double classes = 1;  // of the classes, the first ones
  double images = 1;   // of each class, the first ones

  Index first_classes(Index count) const { return first(count, classes); }
  Index first_images(Index count) const { return first(count, images); }

 private:
  static Index first(Index count, double share) {
    return static_cast<Index>(static_cast<double>(count) * share);
  }
};

/// The bytes of an image file: a file of its own, or a part of one that stays open.
struct EncodedImage {
  MappedFile file = {};
  images::Bytes bytes;
};

/// Images and their labels, wherever their bytes lie: files in folders, an archive, shards.
/// Thread-safe.
class ImageList {
 public:
  virtual ~ImageList() = default;

  /// A label is its class's place here.
  const std::vector<std::string>& classes() const { return classes_; }
  Index size() const { return static_cast<Index>(labels_.size()); }
  Index label(Index image) const { return labels_[static_cast<std::size_t>(image)]; }
  /// Returns where an image lies, for messages.
  virtual std::string name(Index image) const = 0;
  /// Returns an image's file, valid as long as the list and the result. Error(data) where it cannot
  /// be read.
  virtual EncodedImage read(Index image) const = 0;

 protected:
  ImageList() = default;
  ImageList(std::vector<std::string> classes, std::vector<Index> labels)
      : classes_(std::move(classes)), labels_(std::move(labels)) {}

  std::vector<std::string> classes_;
  std::vector<Index> labels_;
};

/// Returns the images of a list that belong to a share of it, in order. `labels`: of all images.
std::vector<Index> images_of_share(Index classes, std::span<const Index> labels,
                                   const ImageShare& share);

/// Decodes as images::decode; warns once of a camera that was turned and of grey that loses levels,
/// which other programs may see differently.
images::Image decode_image(images::Bytes file, const std::string& name,
                           Index most_pixels = images::kMostPixels);
/// Decodes an image of a list in the same way.
images::Image decoded(const ImageList& list, Index image);

/// Opens a folder with one folder for each class, an archive (.h5, by `mpitron dataset images
/// pack`), a .tar or a folder of them (WebDataset). Error(data) where it is something else, or
/// holds no image. `index_folder`: where indices of shards are kept; empty: beside them.
std::unique_ptr<ImageList> open_images(const std::filesystem::path& path,
                                       const ImageShare& share = {},
                                       const std::filesystem::path& index_folder = {});

/// Images below ROOT/CLASS/, in a fixed order: classes by the bytes of their names, in a class each
/// folder's own files before the next folder, all sorted.
class ImageFolder final : public ImageList {
 public:
  /// Error(data) where the folder holds no class or no image.
  explicit ImageFolder(const std::filesystem::path& root, const ImageShare& share = {});

  std::string name(Index image) const override { return path(image).string(); }
  EncodedImage read(Index image) const override;

 private:
  const std::filesystem::path& path(Index image) const {
    return files_[static_cast<std::size_t>(image)];
  }

  std::vector<std::filesystem::path> files_;
};

}  // namespace mpitron::data
