#include <cstring>
#include <string_view>

#include "data/images/image_archive.h"
#include "data/images/image_archive_format.h"
#include "io/hdf5/sealed_arrays.h"
#include "utils/error.h"

// Writes an archive of images in two passes over them: places have to be known before the first
// byte is written.

namespace mpitron::data {
namespace {

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
    result.hashes.push_back(hash_of_image(text_of_image(encoded.bytes)));
    add_name(result.names, list.name(image));
  }
  return result;
}

/// Reads every image again, and checks that it has not changed since it was measured.
void write_images(const ImageList& list, const Measures& measures, AtomicFile& file,
                  const std::function<void(Index)>& packed) {
  for (Index image = 0; image < list.size(); ++image) {
    const EncodedImage encoded = list.read(image);
    const std::string_view bytes = text_of_image(encoded.bytes);
    if (hash_of_image(bytes) != measures.hashes[static_cast<std::size_t>(image)]) {
      throw_data("{}: the file has changed meanwhile", list.name(image));
    }
    file.write(bytes);
    packed(image + 1);
  }
}

}  // namespace

void write_image_archive(const ImageList& list, const std::filesystem::path& path,
                         const std::function<void(Index)>& packed) {
  const Measures measures = measured(list);
  const Index n = list.size();
  const auto write_numbers = [](const std::vector<Index>& numbers, AtomicFile& file) {
    file.write(numbers.data(), numbers.size() * sizeof(Index));
  };
  io::write_sealed(
      path, kImageArchive,
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
