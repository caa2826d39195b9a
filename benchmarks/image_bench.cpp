// Speed of decoding and augmenting images, on one thread (processor time).
//   image_bench [--summary FILE]
// The peer is a plain loop over libjpeg-turbo: decode the whole image to RGB, resize it to the same
// size with antialiasing.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

// jpeglib.h needs size_t and FILE from above.
#include <jpeglib.h>

#include "benchmarks/summary.h"
#include "images/augment/views.h"
#include "images/codecs/decode.h"
#include "utils/check.h"

namespace mpitron::images {
namespace {

using benchmarks::Summary;

constexpr Index kWidth = 500, kHeight = 375, kEdge = 224;
constexpr int kImages = 32;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// What a camera sees, about: smooth light, edges and noise; quality 90, colours at half the
/// resolution. Its size, 60 to 90 kB, is that of ImageNet's files.
std::vector<unsigned char> photograph(unsigned number) {
  std::vector<unsigned char> pixels;
  unsigned noise = number + 1;
  for (Index y = 0; y < kHeight; ++y) {
    for (Index x = 0; x < kWidth; ++x) {
      for (Index channel = 0; channel < kChannels; ++channel) {
        noise = noise * 1664525 + 1013904223;
        const Index shape = ((x / 37 + y / 23 + number) % 3) * 40;
        const Index level = 40 + (x * (channel + 1) + y * 2) / 16 + shape + (noise >> 27);
        pixels.push_back(static_cast<unsigned char>(std::clamp<Index>(level, 0, 255)));
      }
    }
  }
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = kWidth;
  info.image_height = kHeight;
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 90, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = pixels.data() + info.next_scanline * kWidth * kChannels;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::vector<unsigned char> result(bytes, bytes + size);
  std::free(bytes);
  return result;
}

/// The peer's first half.
Image plainly_decoded(const std::vector<unsigned char>& file) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), file.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  Image image(info.output_width, info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = image.row(info.output_scanline);
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return image;
}

/// Neighbours of one axis and their weights, of 22 bits behind the point.
struct PlainTaps {
  std::vector<Index> begins;
  std::vector<std::vector<int>> weights;

  PlainTaps(Index from, Index to) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    for (Index i = 0; i < to; ++i) {
      const double centre = (static_cast<double>(i) + 0.5) * scale;
      const Index begin = std::max<Index>(0, static_cast<Index>(centre - scale + 0.5));
      const Index end = std::min(from, static_cast<Index>(centre + scale + 0.5));
      std::vector<double> shares;
      double sum = 0;
      for (Index x = begin; x < end; ++x) {
        const double distance = std::abs(static_cast<double>(x) + 0.5 - centre) / scale;
        shares.push_back(std::max(0.0, 1 - distance));
        sum += shares.back();
      }
      begins.push_back(begin);
      weights.emplace_back();
      for (const double share : shares) {
        weights.back().push_back(static_cast<int>(share / sum * (1 << 22)));
      }
    }
  }
};

/// The peer's second half: rows, then columns, pixel by pixel.
Image plainly_resized(const Image& image, Index edge) {
  const PlainTaps across(image.width, edge), down(image.height, edge);
  const auto pixel = [](const PlainTaps& taps, Index i, const std::uint8_t* from, Index step,
                        std::uint8_t* to) {
    int sums[3] = {1 << 21, 1 << 21, 1 << 21};
    const auto at = static_cast<std::size_t>(i);
    from += taps.begins[at] * step;
    for (const int weight : taps.weights[at]) {
      sums[0] += weight * from[0];
      sums[1] += weight * from[1];
      sums[2] += weight * from[2];
      from += step;
    }
    for (int channel = 0; channel < 3; ++channel) {
      to[channel] = static_cast<std::uint8_t>(sums[channel] >> 22);
    }
  };
  Image narrow(edge, image.height), result(edge, edge);
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < edge; ++x) {
      pixel(across, x, image.row(y), kChannels, narrow.row(y) + x * kChannels);
    }
  }
  for (Index y = 0; y < edge; ++y) {
    for (Index x = 0; x < edge; ++x) {
      pixel(down, y, narrow.row(0) + x * kChannels, edge * kChannels,
            result.row(y) + x * kChannels);
    }
  }
  return result;
}

/// Images a second of work(file, number), the best of three passes over all files.
template <class Work>
double pace(const std::vector<std::vector<unsigned char>>& files, int passes, const Work& work) {
  double best = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double start = processor_seconds();
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t i = 0; i < files.size(); ++i) {
        work(files[i], static_cast<Index>(i + files.size() * static_cast<std::size_t>(pass)));
      }
    }
    const double count = static_cast<double>(files.size()) * passes;
    best = std::max(best, count / (processor_seconds() - start));
  }
  return best;
}

void measure(Summary& summary) {
  std::vector<std::vector<unsigned char>> files;
  for (unsigned i = 0; i < kImages; ++i) {
    files.push_back(photograph(i));
  }
  std::vector<float> planes(static_cast<std::size_t>(kChannels * kEdge * kEdge));
  const auto decoded = [](const std::vector<unsigned char>& file) {
    return decode(std::as_bytes(std::span(file)), "photograph");
  };
  const Size size{kEdge, kEdge};
  float sink = 0;
  const double plain = pace(files, 2, [&](const auto& file, Index) {
    sink += plainly_resized(plainly_decoded(file), kEdge).pixels[0];
  });
  const double classified = pace(files, 4, [&](const auto& file, Index number) {
    const Image view = classification_view(decoded(file), size, Draws({.sample = number}));
    write_planes(view, kImageNet, planes);
    sink += planes[0];
  });
  const double alone =
      pace(files, 4, [&](const auto& file, Index) { sink += decoded(file).pixels[0]; });
  const double large = pace(files, 2, [&](const auto& file, Index) {
    sink += resize(decoded(file), {336, 336}, Filter::bicubic).pixels[0];
  });
  const double crops = pace({files.begin(), files.begin() + 8}, 1, [&](const auto& file, Index n) {
    const Image image = decoded(file);
    for (Index view = 0; view < 12; ++view) {
      const Index edge = view < 2 ? kEdge : 96;
      sink += dino_view(image,
                        {.size = {edge, edge},
                         .scale = {view < 2 ? 0.4 : 0.05, view < 2 ? 1.0 : 0.4},
                         .blur_probability = view == 0   ? 1
                                             : view == 1 ? 0.1
                                                         : 0.5},
                        Draws({.sample = n, .view = view}))
                  .pixels[0];
    }
  });
  MPITRON_CHECK(sink != 0, sink);
  summary.add({.name = "images_plain_libjpeg_loop", .value = plain, .unit = "images/s"});
  summary.add({.name = "images_decode", .value = alone, .unit = "images/s"});
  summary.add({.name = "images_classification",
               .value = classified / plain,
               .unit = "of a plain loop",
               .goal = 0.9});
  summary.add(
      {.name = "images_classification_pace", .value = classified, .unit = "images/s", .goal = 150});
  summary.add({.name = "images_336", .value = large, .unit = "images/s", .goal = 200});
  summary.add({.name = "images_dino_crops", .value = crops, .unit = "images/s", .goal = 12});
}

}  // namespace
}  // namespace mpitron::images

int main(int argc, char** argv) {
  mpitron::benchmarks::Summary summary(argc, argv);
  mpitron::images::measure(summary);
  return summary.write() ? 0 : 1;
}
