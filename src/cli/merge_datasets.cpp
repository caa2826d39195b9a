#include "corpus/merge_datasets.h"

#include "cli/commands.h"
#include "cli/flags.h"
#include "data/json_text.h"
#include "utils/log.h"

namespace mpitron::cli {

int merge_datasets(const Arguments& arguments) {
  std::string input;
  std::string output_prefix;
  bool json = false;
  Flags flags("merge-datasets",
              "Writes all .bin/.idx corpora of a folder as one, in the order of their names.");
  flags.option("--input", input, "folder of the corpora");
  flags.required();
  flags.option("--output-prefix", output_prefix, "written are PREFIX.bin and PREFIX.idx");
  flags.required();
  flags.flag("--json", json, "print the summary as one JSON object");
  if (!flags.parse(arguments)) {
    return 0;
  }
  const corpus::MergeReport report = corpus::merge_datasets(input, output_prefix);
  log::print(
      json ? fmt::format(R"({{"parts":{},"documents":{},"sequences":{},"tokens":{},"prefix":{}}})",
                         report.parts.size(), report.documents, report.sequences, report.tokens,
                         data::quote_json(output_prefix))
           : fmt::format("{0} corpora, {1} documents, {2} sequences, {3} tokens\nwrote {4}.bin "
                         "and {4}.idx",
                         report.parts.size(), report.documents, report.sequences, report.tokens,
                         output_prefix));
  return 0;
}

}  // namespace mpitron::cli
