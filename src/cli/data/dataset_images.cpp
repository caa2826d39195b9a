#include <algorithm>
#include <filesystem>
#include <thread>

#include "cli/checkpoint_path.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "data/images/image_archive.h"
#include "io/hdf5/hdf5_file.h"
#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/parallel_for.h"

// `mpitron dataset images`: pack, inspect, verify and draw. Each takes an archive (.h5), a folder
// with one folder for each class, or shards (.tar), as data::open_images tells them apart.

namespace mpitron::cli {
namespace {

/// Takes the `count` paths that stand in front of a command's options. Error(usage) with `usage`
/// for any other number, unless help is asked for.
Arguments paths_of(Arguments& arguments, std::size_t count, const std::string& usage) {
  Arguments paths = take_paths(arguments);
  const bool asks_for_help = std::ranges::count(arguments, "--help") > 0;
  if (paths.size() != count && !asks_for_help) {
    throw_usage("mpitron dataset images {}: given {} paths", usage, paths.size());
  }
  return paths;
}

std::vector<Index> images_of_classes(const data::ImageList& list) {
  std::vector<Index> counts(list.classes().size());
  for (Index image = 0; image < list.size(); ++image) {
    ++counts[static_cast<std::size_t>(list.label(image))];
  }
  return counts;
}

int pack(const Arguments& arguments) {
  Arguments rest = arguments;
  const Arguments paths = paths_of(rest, 2, "pack FOLDER|FOLDER_OF_TARS FILE.h5");
  data::ImageShare share;
  bool json = false;
  Flags flags(
      "dataset images pack",
      "Writes the images of a folder, or of shards (.tar), with their classes into one HDF5 "
      "file that --data-path takes. Bytes stay as they are; nothing is decoded.",
      "FOLDER FILE.h5");
  flags.option("--classes-fraction", share.classes, "share of the classes that is packed");
  flags.option("--data-per-class-fraction", share.images, "share of the images of each class");
  flags.flag("--json", json, "print one JSON object");
  if (!flags.parse(rest)) {
    return 0;
  }
  io::require_hdf5("an archive of images");
  if (!paths[1].ends_with(".h5")) {
    throw_usage("dataset images pack: the archive {} must end in .h5", paths[1]);
  }
  const auto list = data::open_images(paths[0], share);
  data::write_image_archive(*list, paths[1]);
  const auto bytes = static_cast<Index>(std::filesystem::file_size(paths[1]));
  log::print(json ? fmt::format(R"({{"output": {}, "images": {}, "classes": {}, "bytes": {}}})",
                                io::json_string(paths[1]), list->size(), list->classes().size(),
                                bytes)
                  : fmt::format("{}: {} images of {} classes, {}", paths[1], list->size(),
                                list->classes().size(), readable_bytes(bytes)));
  return 0;
}

/// Arguments of `inspect` and `verify`: one set of images, and whether to print JSON.
struct ListedImages {
  std::string path;
  std::unique_ptr<data::ImageList> list;
  bool json = false;

  /// Parses what is typed behind the command and opens the images; `add_options` declares the
  /// options that only this command has. False where help was asked for.
  template <class AddOptions>
  bool open(const Arguments& arguments, const std::string& command, const std::string& summary,
            const AddOptions& add_options) {
    constexpr const char* kOperands = "FILE.h5|FOLDER|FILE.tar";
    Arguments rest = arguments;
    const Arguments paths = paths_of(rest, 1, command + " " + kOperands);
    Flags flags("dataset images " + command, summary, kOperands);
    add_options(flags);
    flags.flag("--json", json, "print one JSON object");
    if (!flags.parse(rest)) {
      return false;
    }
    path = paths[0];
    list = data::open_images(path);
    return true;
  }
};

/// Decodes the image: width and height are those of its pixels, not those that a header claims.
void show_image(const ListedImages& images, Index image) {
  const data::ImageList& list = *images.list;
  if (image >= list.size()) {
    throw_usage("--image {}: {} has images 0 to {}", image, images.path, list.size() - 1);
  }
  const images::Image pixels = data::decoded(list, image);
  const std::string& name = list.classes()[static_cast<std::size_t>(list.label(image))];
  log::print(
      images.json
          ? fmt::format(R"({{"image": {}, "name": {}, "class": {}, "width": {}, "height": {}}})",
                        image, io::json_string(list.name(image)), io::json_string(name),
                        pixels.width, pixels.height)
          : fmt::format("{}: {}, {} x {} pixels", list.name(image), name, pixels.width,
                        pixels.height));
}

void show_classes(const ListedImages& images) {
  const std::vector<Index> counts = images_of_classes(*images.list);
  std::string classes;
  for (std::size_t label = 0; label < counts.size(); ++label) {
    const std::string& name = images.list->classes()[label];
    classes += images.json ? fmt::format("{}{}: {}", label == 0 ? "" : ", ", io::json_string(name),
                                         counts[label])
                           : fmt::format("\n  {:>8} {}", counts[label], name);
  }
  log::print(images.json ? fmt::format(R"({{"images": {}, "classes": {{{}}}}})",
                                       images.list->size(), classes)
                         : fmt::format("{}: {} images of {} classes{}", images.path,
                                       images.list->size(), counts.size(), classes));
}

int inspect_images(const Arguments& arguments) {
  Index image = -1;
  ListedImages images;
  if (!images.open(arguments, "inspect",
                   "Shows the classes of an archive, a folder or shards of images, and how many "
                   "images each has.",
                   [&](Flags& flags) {
                     flags.option("--image", image, "show this image (from 0): name, class, size");
                   })) {
    return 0;
  }
  image >= 0 ? show_image(images, image) : show_classes(images);
  return 0;
}

/// Asks `problem(image)` of every image on all cores, logs what is not empty in the images' order
/// and returns how many.
template <class Problem>
Index report_problems(const data::ImageList& list, const Problem& problem) {
  std::vector<std::string> problems(static_cast<std::size_t>(list.size()));
  parallel_for(problems.size(), static_cast<Index>(std::thread::hardware_concurrency()),
               [&](std::size_t image) { problems[image] = problem(static_cast<Index>(image)); });
  Index count = 0;
  for (const std::string& text : problems) {
    if (!text.empty()) {
      ++count;
      log::error("{}", text);
    }
  }
  return count;
}

/// Only archives carry hashes of their images' bytes; images of folders and shards can be decoded,
/// no more.
int verify_images(const Arguments& arguments) {
  bool decode = false;
  ListedImages images;
  if (!images.open(arguments, "verify",
                   "Checks that every image of an archive is what was packed. With --decode, that "
                   "every image of an archive, a folder or shards can be decoded.",
                   [&](Flags& flags) { flags.flag("--decode", decode, "decode every image"); })) {
    return 0;
  }
  const data::ImageList& list = *images.list;
  const auto* archive = dynamic_cast<const data::ImageArchive*>(&list);
  if (archive == nullptr && !decode) {
    throw_usage("dataset images verify {}: only archives (.h5) have hashes; add --decode",
                images.path);
  }
  const Index bad = report_problems(list, [&](Index image) -> std::string {
    if (archive != nullptr && !archive->is_whole(image)) {
      return list.name(image) + ": its bytes are not those that were packed";
    }
    try {
      if (decode) {
        data::decoded(list, image);
      }
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  });
  log::print(images.json
                 ? fmt::format(R"({{"images": {}, "bad": {}}})", list.size(), bad)
                 : fmt::format("{}: {} images, {} of them bad", images.path, list.size(), bad));
  return static_cast<int>(bad == 0 ? ExitCode::success : ExitCode::data);
}

}  // namespace

int dataset_images(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"pack", "write a folder or shards of images as one .h5 file", pack},
      {"inspect", "show classes and images", inspect_images},
      {"verify", "check that images are whole", verify_images},
      {"draw", "draw images to learn from", draw_images},
  };
  return run_command_of("dataset images", kCommands, arguments);
}

}  // namespace mpitron::cli
