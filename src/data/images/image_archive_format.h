#pragma once
#include <cstring>
#include <string_view>

#include "data/images/image_list.h"
#include "io/hdf5/sealed_arrays.h"
#include "utils/text/hash.h"

namespace mpitron::data {

// An archive of images as a file of sealed arrays: where the bytes of each image lie, which class
// it is of, and what it is called.

/// What the seal of such a file says of it.
inline constexpr io::SealedFormat kImageArchive{
    .magic = "MPIIMAGE",
    .content = "an archive of images",
    .writer = "mpitron dataset images pack",
    .names = {"images", "offsets", "labels", "hashes", "names"}};
/// The arrays by their numbers, in the order of their names above. All numbers are of 64 bits; of
/// the first and the last each element is a byte.
enum ImageArray : std::size_t {
  images_array,   // [bytes] of all images in a row
  offsets_array,  // [images + 1] where each begins, and where the last one ends
  labels_array,   // [images] classes
  hashes_array,   // [images] of their bytes
  names_array     // of classes, then of images, each with a zero behind it
};

/// Returns the bytes of an image as hashes and files take them.
inline std::string_view text_of_image(images::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the hash of an image's bytes as it stands in the file.
inline Index hash_of_image(std::string_view bytes) {
  return static_cast<Index>(hash64(bytes));
}

}  // namespace mpitron::data
