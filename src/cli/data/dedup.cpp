#include "corpus/dedup.h"

#include "cli/commands.h"
#include "cli/data/tokenizer_flags.h"
#include "cli/flags.h"
#include "train/run/exit_signals.h"
#include "utils/log.h"

// `mpitron dedup`: flags of corpus::dedup and its report. The options carry the names of Megatron's
// find_duplicates.py where it has them.

namespace mpitron::cli {
namespace {

std::string report_json(const corpus::DedupReport& report) {
  return fmt::format(
      R"({{"documents":{},"removed":{},"groups":{},"compared":{},"bytes":{},"seconds":{:.3f}}})",
      report.documents, report.removed, report.groups, report.candidates, report.bytes,
      report.seconds);
}

std::string report_text(const corpus::DedupReport& report, const std::string& output) {
  const double megabytes = static_cast<double>(report.bytes) * 1e-6;
  return fmt::format(
      "{} documents of {:.1f} MB in {:.2f} s ({:.1f} MB/s); {} pairs compared, {} groups of "
      "duplicates, {} documents left out\nwrote {}: {} documents",
      report.documents, megabytes, report.seconds, megabytes / std::max(report.seconds, 1e-9),
      report.candidates, report.groups, report.removed, output, report.documents - report.removed);
}

}  // namespace

int dedup(const Arguments& arguments) {
  corpus::DedupOptions options;
  WorkerFlag workers;
  Index seed = static_cast<Index>(options.seed);
  bool json = false;
  Flags flags("dedup",
              "Leaves out near-duplicates: MinHash candidates, checked by the exact Jaccard "
              "similarity of their shingles; the first document of each group stays.");
  flags.option("--input", options.inputs, "plain JSONL or .txt: files, patterns, folders");
  flags.required();
  flags.option("--output", options.output, "file to write, lines as they were read");
  flags.required();
  flags.option("--groups", options.groups,
               "also write the groups: {\"keep\": 3, \"remove\": [17, 20]} (documents from 0)");
  flags.option("--text-key", options.text_key, "key of the text in each JSON object");
  flags.option("--jaccard-threshold", options.threshold, "similarity from which two are the same");
  flags.option("--num-seeds", options.seeds, "rows of a MinHash signature");
  flags.option("--num-bands", options.bands,
               "bands they are cut into: more find less similar ones");
  flags.option("--shingle", options.shingle, "characters of a shingle");
  flags.option("--seed", seed, "of the hash functions");
  workers.add(flags);
  flags.flag("--json", json, "print the report as one JSON object");
  if (!flags.parse(arguments)) {
    return 0;
  }
  options.workers = workers.value();
  options.seed = static_cast<std::uint64_t>(seed);
  const train::ExitSignals signals(true);
  options.stop = [&] { return signals.received() != 0; };
  const corpus::DedupReport report = corpus::dedup(options);
  log::print(json ? report_json(report) : report_text(report, options.output));
  return 0;
}

}  // namespace mpitron::cli
