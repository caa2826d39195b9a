#include <algorithm>
#include <cctype>
#include <filesystem>

#include "checkpoint/format/file.h"
#include "checkpoint/tools/inspection.h"
#include "cli/checkpoint_path.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/text/hash.h"

// `mpitron inspect`: what one checkpoint file holds (header, state, tensors, their statistics), or
// how two differ. Only headers are read unless --statistics or a comparison asks for elements. Exit
// code of a comparison: 0 equal, 1 different.

namespace mpitron::cli {
namespace {

using checkpoint::DataSet;
using checkpoint::Difference;
using checkpoint::File;
using checkpoint::Header;
using checkpoint::Statistics;

struct InspectFlags {
  bool statistics = false;
  bool configuration = false;
  bool json = false;
  std::string extract_tokenizer;  // folder
};

/// Orders names so that layer 10 follows layer 9: runs of digits are compared by their length and
/// then as texts, all other characters by their codes. Numbers have no leading zeros in these
/// names.
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) {
        return a[i] < b[j];
      }
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      const std::size_t begin = at;
      while (at < text.size() && digit(text[at])) {
        ++at;
      }
      return text.substr(begin, at - begin);
    };
    const std::string x = number(a, i), y = number(b, j);
    if (x != y) {
      return x.size() != y.size() ? x.size() < y.size() : x < y;
    }
  }
  return a.size() - i < b.size() - j;
}

/// Columns of one tensor's statistics; counts of NaN and Inf only where there are any.
std::string figures(const Statistics& s) {
  return fmt::format("  min {:<11.4g} max {:<11.4g} mean {:<11.4g} std {:<11.4g}{}{}", s.minimum,
                     s.maximum, s.mean, s.deviation,
                     s.nans > 0 ? fmt::format(" {} NaN", s.nans) : "",
                     s.infinities > 0 ? fmt::format(" {} Inf", s.infinities) : "");
}

/// Tells of a checkpoint of --save-file-per-writer, whose file shows the data of several others as
/// its own.
std::string writers_sentence(const checkpoint::Storage& storage) {
  Index bytes = 0;
  for (const std::filesystem::path& path : storage.files) {
    bytes += static_cast<Index>(std::filesystem::file_size(path));
  }
  return fmt::format(", which shows {} writers' files of {}", storage.files.size(),
                     readable_bytes(bytes));
}

/// Prints everything beside tensors; the configuration only on request, since it is pages of JSON.
void print_header(const File& file, const InspectFlags& options) {
  const Header& header = file.header();
  log::print(
      fmt::format("{}: {}{}", file.path().string(),
                  readable_bytes(static_cast<Index>(std::filesystem::file_size(file.path()))),
                  file.shared() ? "" : writers_sentence(file.storage())));
  log::print(fmt::format("  schema version {}, iteration {}, {} consumed train samples",
                         header.schema_version, header.iteration, header.consumed_train_samples));
  log::print("  build   " + header.build);
  log::print("  layout  " + header.layout);
  if (options.configuration) {
    log::print("  configuration\n" + header.configuration);
  } else {
    log::print(fmt::format("  configuration: {} of JSON (--configuration prints it)",
                           readable_bytes(static_cast<Index>(header.configuration.size()))));
  }
  for (const auto& [name, value] : header.integers) {
    log::print(fmt::format("  state   {} = {}", name, value));
  }
  for (const auto& [name, value] : header.reals) {
    log::print(fmt::format("  state   {} = {}", name, value));
  }
  for (const auto& [name, value] : header.texts) {
    log::print(fmt::format("  state   {} = {}", name, value));
  }
  for (const auto& [name, bytes] : header.files) {
    const Hash128 hash = hash128(bytes);
    log::print(fmt::format("  file    {} ({}, XXH3 {:016x}{:016x})", name,
                           readable_bytes(static_cast<Index>(bytes.size())), hash.high, hash.low));
  }
}

/// Prints a heading wherever the group changes and its data sets below it. `statistics` is empty or
/// parallel to file.data_sets().
void print_tree(const File& file, const std::vector<Statistics>& statistics) {
  const std::vector<DataSet>& all = file.data_sets();
  std::vector<std::size_t> order(all.size());
  std::size_t width = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    order[i] = i;
    width = std::max(width, all[i].name.size() - (all[i].name.rfind('/') + 1));
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return natural_less(all[i].name, all[j].name); });
  std::string group;
  Index elements = 0, bytes = 0;
  for (const std::size_t i : order) {
    const DataSet& data_set = all[i];
    const std::size_t slash = data_set.name.rfind('/');
    const std::string its_group = data_set.name.substr(0, slash + 1);
    if (its_group != group) {
      group = its_group;
      log::print(group);
    }
    log::print(fmt::format("  {:<{}}  {:<4}  {:<16} {:>8}{}", data_set.name.substr(slash + 1),
                           width, name_of(data_set.dtype), to_string(data_set.shape),
                           readable_bytes(data_set.bytes()),
                           statistics.empty() ? "" : figures(statistics[i])));
    elements += data_set.shape.numel();
    bytes += data_set.bytes();
  }
  log::print(
      fmt::format("{} data sets, {} elements, {}", all.size(), elements, readable_bytes(bytes)));
}

/// Layout and configuration are JSON where mpitron wrote them and go into the output as they are;
/// any other text becomes a string.
std::string json_or_text(const std::string& text) {
  return text.starts_with('{') ? text : io::json_string(text);
}

template <class Map, class Write>
std::string json_object(const Map& map, Write&& write) {
  std::string text;
  for (const auto& [name, value] : map) {
    text += (text.empty() ? "" : ", ") + io::json_string(name) + ": " + write(value);
  }
  return "{" + text + "}";
}

/// Members of the header without the braces, for callers that add their own.
std::string to_json(const Header& header) {
  return fmt::format(
      R"("schema_version": {}, "iteration": {}, "consumed_train_samples": {}, "build": {}, )"
      R"("layout": {}, "configuration": {}, "integers": {}, "reals": {}, "texts": {}, "files": {})",
      header.schema_version, header.iteration, header.consumed_train_samples,
      io::json_string(header.build), json_or_text(header.layout),
      json_or_text(header.configuration),
      json_object(header.integers, [](Index value) { return std::to_string(value); }),
      json_object(header.reals, [](double value) { return io::json_number(value); }),
      json_object(header.texts, [](const std::string& value) { return io::json_string(value); }),
      json_object(header.files,
                  [](const std::string& bytes) { return std::to_string(bytes.size()); }));
}

std::string to_json(const File& file, const DataSet& data_set, const Statistics* s) {
  std::string text = fmt::format(
      R"({{"name": {}, "shape": {}, "dtype": "{}", "bytes": {}, "offset": {})",
      io::json_string(data_set.name), to_string(data_set.shape), name_of(data_set.dtype),
      data_set.bytes(), file.shared() ? std::to_string(data_set.offset) : "null");
  if (s != nullptr) {
    text += fmt::format(
        R"(, "minimum": {}, "maximum": {}, "mean": {}, "deviation": {}, "nans": {}, )"
        R"("infinities": {}, "zeros": {})",
        io::json_number(s->minimum), io::json_number(s->maximum), io::json_number(s->mean),
        io::json_number(s->deviation), s->nans, s->infinities, s->zeros);
  }
  return text + "}";
}

std::string to_json(const File& file, const std::vector<Statistics>& statistics) {
  std::string data_sets;
  for (std::size_t i = 0; i < file.data_sets().size(); ++i) {
    data_sets += (i > 0 ? ", " : "") +
                 to_json(file, file.data_sets()[i], statistics.empty() ? nullptr : &statistics[i]);
  }
  return fmt::format(R"({{"file": {}, {}, "data_sets": [{}]}})",
                     io::json_string(file.path().string()), to_json(file.header()), data_sets);
}

/// Writes the tokenizer's files that a checkpoint carries. Names come from a file that anybody may
/// have made: one that could lead out of the folder is refused.
void extract_tokenizer(const File& file, const std::filesystem::path& folder) {
  const auto& files = file.header().files;
  if (files.empty()) {
    throw_data("{}: holds no tokenizer files: its run read none (the null tokenizer has none)",
               file.path().string());
  }
  make_folder("--extract-tokenizer", folder);
  for (const auto& [name, bytes] : files) {
    if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos) {
      throw_data("{}: the embedded file \"{}\" has no plain name; it is not written",
                 file.path().string(), name);
    }
    AtomicFile copy(folder / name);
    copy.write(bytes);
    copy.commit();
    log::print("wrote " + (folder / name).string());
  }
}

/// Reads elements for --statistics only.
int inspect_one(const File& file, const InspectFlags& options) {
  if (!options.extract_tokenizer.empty()) {
    extract_tokenizer(file, options.extract_tokenizer);
    return 0;
  }
  const std::vector<Statistics> statistics =
      options.statistics ? checkpoint::statistics(file) : std::vector<Statistics>{};
  if (options.json) {
    log::print(to_json(file, statistics));
  } else {
    print_header(file, options);
    print_tree(file, statistics);
  }
  return 0;
}

/// Tells a difference: of presence, type or shape in its own words, of elements by their number and
/// the largest distance.
std::string sentence(const Difference& difference) {
  if (!difference.what.empty()) {
    return difference.name + ": " + difference.what;
  }
  return fmt::format("{}: {} elements differ, by at most {:.6g}; the first is number {}",
                     difference.name, difference.elements, difference.largest, *difference.first);
}

std::string to_json(const Difference& difference) {
  return fmt::format(R"({{"name": {}, "what": {}, "elements": {}, "largest": {}}})",
                     io::json_string(difference.name),
                     io::json_string(difference.what.empty() ? "elements differ" : difference.what),
                     difference.elements, io::json_number(difference.largest));
}

/// Compares state and tensors; layouts may differ, since data sets are whole tensors in either.
int inspect_two(const File& a, const File& b, const InspectFlags& options) {
  const std::vector<std::string> headers = checkpoint::differences(a.header(), b.header());
  const std::vector<Difference> data = checkpoint::differences(a, b);
  const bool equal = headers.empty() && data.empty();
  std::string header_list, data_list;
  for (const std::string& text : headers) {
    header_list += (header_list.empty() ? "" : ", ") + io::json_string(text);
  }
  for (const Difference& difference : data) {
    data_list += (data_list.empty() ? "" : ", ") + to_json(difference);
  }
  if (options.json) {
    log::print(fmt::format(R"({{"a": {}, "b": {}, "equal": {}, "state": [{}], "data_sets": [{}]}})",
                           io::json_string(a.path().string()), io::json_string(b.path().string()),
                           equal, header_list, data_list));
    return equal ? 0 : 1;
  }
  log::print(fmt::format("A: {}\nB: {}", a.path().string(), b.path().string()));
  for (const std::string& text : headers) {
    log::print(text);
  }
  for (const Difference& difference : data) {
    log::print(sentence(difference));
  }
  log::print(equal ? fmt::format("equal: {} data sets, bit for bit", a.data_sets().size())
                   : fmt::format("different: {} data sets and {} other values", data.size(),
                                 headers.size()));
  return equal ? 0 : 1;
}

}  // namespace

int inspect(const Arguments& arguments) {
  Arguments words = arguments;
  const Arguments paths = take_paths(words);
  InspectFlags options;
  Flags flags(
      "inspect",
      "Shows what a checkpoint holds, or how two differ (exit code 0: equal, 1: different). "
      "PATH: a file, an iter_* folder, or a folder of checkpoints (its newest).",
      "PATH [PATH]");
  flags.flag("--statistics", options.statistics,
             "minimum, maximum, mean, standard deviation and NaN of each tensor");
  flags.flag("--configuration", options.configuration, "print the options of the run");
  flags.flag("--json", options.json, "print one JSON object");
  flags.option("--extract-tokenizer", options.extract_tokenizer,
               "write the tokenizer's files to this folder");
  if (!flags.parse(words)) {
    return 0;
  }
  if (paths.empty() || paths.size() > 2) {
    throw_usage(
        "inspect: one or two paths come first, given {}: mpitron inspect PATH [PATH] "
        "[--statistics] [--configuration] [--json]",
        paths.size());
  }
  const File first(checkpoint_file(paths[0]));
  return paths.size() == 1 ? inspect_one(first, options)
                           : inspect_two(first, File(checkpoint_file(paths[1])), options);
}

}  // namespace mpitron::cli
