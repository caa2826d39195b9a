#include "corpus/merge_datasets.h"

#include "cli/commands.h"
#include "cli/flags.h"
#include "data/preprocess/json_text.h"
#include "utils/log.h"

// `mpitron merge-datasets`: Megatron's tools/merge_datasets.py, for .bin with .idx and for HDF5.

namespace mpitron::cli {

int merge_datasets(const Arguments& arguments) {
  std::string input;
  std::string output;
  bool json = false;
  Flags flags("merge-datasets",
              "Writes all corpora of a folder (.bin with .idx, .h5) as one, in the order of their "
              "names.");
  flags.option("--input", input, "folder of the corpora");
  flags.required();
  flags.option("--output-prefix", output,
               "written are PREFIX.bin and PREFIX.idx, or one file where it ends in .h5");
  flags.required();
  flags.flag("--json", json, "print the summary as one JSON object");
  if (!flags.parse(arguments)) {
    return 0;
  }
  const corpus::MergeReport report = corpus::merge_datasets(input, output);
  const std::string files =
      output.ends_with(".h5") ? output : fmt::format("{0}.bin and {0}.idx", output);
  log::print(
      json ? fmt::format(R"({{"parts":{},"documents":{},"sequences":{},"tokens":{},"prefix":{}}})",
                         report.parts.size(), report.documents, report.sequences, report.tokens,
                         data::quote_json(output))
           : fmt::format("{} corpora, {} documents, {} sequences, {} tokens\nwrote {}",
                         report.parts.size(), report.documents, report.sequences, report.tokens,
                         files));
  return 0;
}

}  // namespace mpitron::cli
