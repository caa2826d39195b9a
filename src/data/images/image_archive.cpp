#include "data/images/image_archive.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "io/hdf5/sealed_arrays.h"
#include "utils/error.h"
#include "utils/text/hash.h"

// Images of one HDF5 file, read by mapping. Their hashes are looked at by `dataset images`, not in
// training: a damaged image fails to decode.

namespace mpitron::data {
namespace {

constexpr io::SealedFormat kImages{.magic = "MPIIMAGE",
                                   .content = "an archive of images",
                                   .writer = "mpitron dataset images pack",
                                   .names = {"images", "offsets", "labels", "hashes", "names"}};
enum Array : std::size_t { images_array, offsets_array, labels_array, hashes_array, names_array };

std::string_view text_of(images::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Index hash_of(std::string_view bytes) {
  return static_cast<Index>(hash64(bytes));
}

/// Places, labels, hashes and names of the images of a list: all that stands in a file beside their
/// bytes.
struct Measures {
  std::vector<Index> offsets{0}, labels, hashes;
  std::string names;
};

void add_name(std::string& names, const std::string& name) {
  names += name;
  names += '\0';
}

/// Reads every image once: places have to be known before the first byte is written.
Measures measured(const ImageList& list) {
  Measures result;
  for (const std::string& name : list.classes()) {
    add_name(result.names, name);
  }
  for (Index image = 0; image < list.size(); ++image) {
    const EncodedImage encoded = list.read(image);
    result.offsets.push_back(result.offsets.back() + static_cast<Index>(encoded.bytes.size()));
    result.labels.push_back(list.label(image));
    result.hashes.push_back(hash_of(text_of(encoded.bytes)));
    add_name(result.names, list.name(image));
  }
  return result;
}

/// Reads every image again, and checks that it has not changed since it was measured.
void write_images(const ImageList& list, const Measures& measures, AtomicFile& file,
                  const std::function<void(Index)>& packed) {
  for (Index image = 0; image < list.size(); ++image) {
    const EncodedImage encoded = list.read(image);
    const std::string_view bytes = text_of(encoded.bytes);
    if (hash_of(bytes) != measures.hashes[static_cast<std::size_t>(image)]) {
      throw_data("{}: the file has changed meanwhile", list.name(image));
    }
    file.write(bytes);
    packed(image + 1);
  }
}

/// Views all elements of one of the arrays of 64-bit numbers.
std::span<const Index> numbers_of(const MappedFile& file, const io::ByteRange& range) {
  return {reinterpret_cast<const Index*>(file.text().data() + range.begin),
          static_cast<std::size_t>(range.bytes) / sizeof(Index)};
}

}  // namespace

ImageArchive::ImageArchive(const std::filesystem::path& path, const ImageShare& share)
    : file_(path) {
  const io::SealedArrays arrays = io::read_sealed(file_, kImages);
  const auto range = [&](Array array) { return arrays.range(array); };
  const auto text = [&](Array array) {
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
  return hash_of(text_of(read(image).bytes)) == hashes_[place];
}

void write_image_archive(const ImageList& list, const std::filesystem::path& path,
                         const std::function<void(Index)>& packed) {
  const Measures measures = measured(list);
  const Index n = list.size();
  const auto write_numbers = [](const std::vector<Index>& numbers, AtomicFile& file) {
    file.write(numbers.data(), numbers.size() * sizeof(Index));
  };
  io::write_sealed(
      path, kImages,
      {{{.name = {}, .shape = {measures.offsets.back()}, .dtype = DType::u8},
        {.name = {}, .shape = {n + 1}, .dtype = DType::i64},
        {.name = {}, .shape = {n}, .dtype = DType::i64},
        {.name = {}, .shape = {n}, .dtype = DType::i64},
        {.name = {}, .shape = {static_cast<Index>(measures.names.size())}, .dtype = DType::u8}}},
      {{"format", std::string("mpitron images")},
       {"classes", static_cast<Index>(list.classes().size())}},
      [&](std::size_t array, AtomicFile& file) {
        switch (array) {
          case images_array:
            write_images(list, measures, file, packed);
            break;
          case offsets_array:
            write_numbers(measures.offsets, file);
            break;
          case labels_array:
            write_numbers(measures.labels, file);
            break;
          case hashes_array:
            write_numbers(measures.hashes, file);
            break;
          default:
            file.write(measures.names);
        }
      });
}

}  // namespace mpitron::data
