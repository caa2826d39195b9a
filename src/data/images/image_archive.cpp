#include "data/images/image_archive.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "data/images/image_archive_format.h"
#include "io/hdf5/sealed_arrays.h"
#include "utils/error.h"

// Images of one HDF5 file, read by mapping. Their hashes are looked at by `dataset images`, not in
// training: a damaged image fails to decode.

namespace mpitron::data {
namespace {

/// Views all elements of one of the arrays of 64-bit numbers.
std::span<const Index> numbers_of(const MappedFile& file, const io::ByteRange& range) {
  return {reinterpret_cast<const Index*>(file.text().data() + range.begin),
          static_cast<std::size_t>(range.bytes) / sizeof(Index)};
}

}  // namespace

ImageArchive::ImageArchive(const std::filesystem::path& path, const ImageShare& share)
    : file_(path) {
  const io::SealedArrays arrays = io::read_sealed(file_, kImageArchive);
  const auto range = [&](ImageArray array) { return arrays.range(array); };
  const auto text = [&](ImageArray array) {
    return file_.text().substr(static_cast<std::size_t>(range(array).begin),
                               static_cast<std::size_t>(range(array).bytes));
  };
  images_ = text(images_array);
  offsets_ = numbers_of(file_, range(offsets_array));
  hashes_ = numbers_of(file_, range(hashes_array));
  const std::span<const Index> labels = numbers_of(file_, range(labels_array));
  const auto classes = arrays.attributes.find("classes");
  const auto* count =
      classes != arrays.attributes.end() ? std::get_if<Index>(&classes->second) : nullptr;
  const Index class_count = count != nullptr ? *count : 0;
  // All numbers by which bytes are found later are checked here, once.
  const bool fits =
      labels.size() == hashes_.size() && offsets_.size() == labels.size() + 1 &&
      offsets_.front() == 0 && offsets_.back() == static_cast<Index>(images_.size()) &&
      std::ranges::is_sorted(offsets_) &&
      std::ranges::all_of(labels, [&](Index label) { return label >= 0 && label < class_count; });
  if (!fits) {
    throw_data("{}: offsets, labels and hashes of the images do not fit each other", path.string());
  }
  read_names(text(names_array), class_count);
  places_ = images_of_share(class_count, labels, share);
  classes_.resize(static_cast<std::size_t>(share.first_classes(class_count)));
  for (const Index place : places_) {
    labels_.push_back(labels[static_cast<std::size_t>(place)]);
  }
  if (places_.empty()) {
    throw_data("{}: no image in it, or in the share of it that is asked for", path.string());
  }
}

void ImageArchive::read_names(std::string_view names, Index class_count) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find('\0'), names.size());
    auto& to = static_cast<Index>(classes_.size()) < class_count ? classes_ : names_;
    to.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  if (static_cast<Index>(classes_.size()) != class_count || names_.size() != hashes_.size()) {
    throw_data("{}: {} classes and {} images, and names of {} and {}", file_.path().string(),
               class_count, hashes_.size(), classes_.size(), names_.size());
  }
}

std::string ImageArchive::name(Index image) const {
  const auto place = static_cast<std::size_t>(places_[static_cast<std::size_t>(image)]);
  return file_.path().string() + ", " + names_[place];
}

EncodedImage ImageArchive::read(Index image) const {
  const auto place = static_cast<std::size_t>(places_[static_cast<std::size_t>(image)]);
  const auto begin = static_cast<std::size_t>(offsets_[place]);
  const std::string_view bytes =
      images_.substr(begin, static_cast<std::size_t>(offsets_[place + 1]) - begin);
  return {.bytes = std::as_bytes(std::span(bytes))};
}

bool ImageArchive::is_whole(Index image) const {
  const auto place = static_cast<std::size_t>(places_[static_cast<std::size_t>(image)]);
  return hash_of_image(text_of_image(read(image).bytes)) == hashes_[place];
}

}  // namespace mpitron::data
