#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/data/tokenizer_flags.h"
#include "cli/flags.h"
#include "corpus/dataset_report.h"
#include "data/preprocess/json_text.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron dataset inspect PREFIX|FILE.h5`: counts and lengths of a tokenised corpus, or one of its
// documents.

namespace mpitron::cli {
namespace {

constexpr Index kNoDocument = -1;

struct DatasetInspectFlags {
  std::string prefix;
  Index document = kNoDocument;
  tokenizers::TokenizerOptions tokenizer;
  bool json = false;
};

/// Prints the document's text where a tokenizer is given, else its ids; --json has both.
void print_document(const io::TokenFile& corpus, const DatasetInspectFlags& options) {
  const std::vector<std::int64_t> tokens = corpus::document_tokens(corpus, options.document);
  const tokenizers::TokenizerOptions& given = options.tokenizer;
  const bool decode =
      !given.vocab_file.empty() || !given.tokenizer_model.empty() || given.vocab_size > 0;
  std::string text;
  if (decode) {
    const auto tokenizer = tokenizers::make_tokenizer(options.tokenizer);
    const tokenizers::TokenIds ids(tokens.begin(), tokens.end());
    text = tokenizer->decode(ids);
  }
  if (options.json) {
    log::print(fmt::format(R"({{"document":{},"ids":[{}]{}}})", options.document,
                           fmt::join(tokens, ","),
                           decode ? ",\"text\":" + data::quote_json(text) : ""));
  } else {
    log::print(decode ? text : fmt::format("{}", fmt::join(tokens, " ")));
  }
}

}  // namespace

int dataset_inspect(const Arguments& words) {
  Arguments arguments = words;
  DatasetInspectFlags options;
  if (!arguments.empty() && !arguments.front().starts_with("--")) {
    options.prefix = arguments.front();
    arguments.erase(arguments.begin());
  }
  Flags flags("dataset inspect",
              "Shows what PREFIX.bin and PREFIX.idx, or one HDF5 file, hold: documents, tokens, "
              "lengths.",
              "PREFIX | FILE.h5");
  flags.option("--document", options.document,
               "print this document (from 0): its text where a tokenizer is given, else its ids");
  add_tokenizer_options(flags, options.tokenizer);
  flags.flag("--json", options.json, "print one JSON object");
  if (!flags.parse(arguments)) {
    return 0;
  }
  if (options.prefix.empty()) {
    throw_usage(
        "mpitron dataset inspect PREFIX: name the corpus, without .bin or .idx, or its .h5 file");
  }
  for (const std::string_view ending : {".bin", ".idx"}) {
    if (options.prefix.ends_with(ending)) {
      options.prefix.erase(options.prefix.size() - ending.size());
    }
  }
  const io::TokenFile corpus(options.prefix);
  if (options.document != kNoDocument) {
    print_document(corpus, options);
    return 0;
  }
  const corpus::DatasetReport report = corpus::inspect_dataset(corpus);
  log::print(options.json ? to_json(report) : to_text(report));
  return 0;
}

}  // namespace mpitron::cli
