#pragma once
#include <functional>

#include "data/images/image_list.h"

namespace mpitron::data {

/// Image files with their labels in one HDF5 file, which is mapped: no folder of a million files is
/// searched, no file opened for each image. Data sets: `images` u8, all files one behind the other;
/// `offsets` int64 [n + 1], where each begins, and the end; `labels` int64 [n]; `hashes` int64 [n],
/// XXH3 of each file; `names` u8, of classes, then of images, each with a zero behind it.
class ImageArchive final : public ImageList {
 public:
  /// Maps an archive. Error(data) where the file is damaged outside of its images, or something
  /// else.
  explicit ImageArchive(const std::filesystem::path& path, const ImageShare& share = {});

  std::string name(Index image) const override;
  EncodedImage read(Index image) const override;
  /// Returns whether its bytes are those that were packed.
  bool is_whole(Index image) const;
  /// Returns the size of the whole file.
  Index bytes() const { return static_cast<Index>(file_.bytes().size()); }

 private:
  /// Takes the names of classes and images apart.
  void read_names(std::string_view names, Index class_count);

  MappedFile file_;
  std::string_view images_;
  std::span<const Index> offsets_, hashes_;
  std::vector<std::string> names_;
  std::vector<Index> places_;  // of the images of the share in the archive
};

/// Writes an archive of all images of a list, complete or not at all; bytes are taken as they are.
/// `packed` is told how many images are written.
void write_image_archive(
    const ImageList& list, const std::filesystem::path& path,
    const std::function<void(Index)>& packed = [](Index) {});

}  // namespace mpitron::data
