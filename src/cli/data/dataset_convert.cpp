#include <filesystem>

#include "cli/checkpoint_path.h"
#include "cli/commands.h"
#include "cli/data/tokenizer_flags.h"
#include "cli/flags.h"
#include "io/logs/json_text.h"
#include "io/tokens/token_file_writer.h"
#include "io/tokens/token_hdf5.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron dataset convert`: the same corpus as .bin and .idx or as one HDF5 file. The ending .h5
// of exactly one of the two paths tells the direction.

namespace mpitron::cli {
namespace {

struct Conversion {
  std::string from, to;
  bool to_hdf5 = false;
  std::string tokenizer_hash;  // that of the source, unless a tokenizer is given
};

Conversion read_paths(const Arguments& paths) {
  if (paths.size() != 2) {
    throw_usage(
        "dataset convert: a source and a target come first, given {}: mpitron dataset convert "
        "PREFIX FILE.h5, or FILE.h5 PREFIX",
        paths.size());
  }
  Conversion conversion{paths[0], paths[1], paths[1].ends_with(".h5"), ""};
  if (conversion.to_hdf5 == paths[0].ends_with(".h5")) {
    throw_usage(
        "dataset convert {} {}: one of the two must end in .h5, the other is a prefix (without "
        ".bin)",
        paths[0], paths[1]);
  }
  return conversion;
}

/// Copies sequences, document bounds and modes; token types stay, so that going back gives the same
/// bytes.
void convert_corpus(const io::TokenFile& corpus, const Conversion& conversion) {
  if (conversion.to_hdf5) {
    io::write_token_hdf5(corpus, conversion.to, conversion.tokenizer_hash);
    return;
  }
  io::TokenFileWriter writer(conversion.to, corpus.type(),
                             corpus.has_modes() ? io::Modes::present : io::Modes::absent);
  writer.append(corpus);
  writer.commit();
}

}  // namespace

int dataset_convert(const Arguments& arguments) {
  Arguments words = arguments;
  const Arguments paths = take_paths(words);
  tokenizers::TokenizerOptions tokenizer;
  tokenizer.type = "";
  bool json = false;
  Flags flags("dataset convert",
              "The same corpus as .bin and .idx or as one HDF5 file; --data-path takes both. With "
              "the options of a tokenizer, its fingerprint goes into the .h5: training with "
              "another one is refused.",
              "PREFIX FILE.h5 | FILE.h5 PREFIX");
  add_tokenizer_options(flags, tokenizer);
  flags.flag("--json", json, "print one JSON object");
  if (!flags.parse(words)) {
    return static_cast<int>(ExitCode::success);
  }
  Conversion conversion = read_paths(paths);
  const io::TokenFile corpus(conversion.from);
  conversion.tokenizer_hash = tokenizer.type.empty()
                                  ? corpus.tokenizer_hash()
                                  : tokenizers::make_tokenizer(tokenizer)->fingerprint();
  convert_corpus(corpus, conversion);
  const Index bytes = static_cast<Index>(
      std::filesystem::file_size(conversion.to_hdf5 ? conversion.to : conversion.to + ".bin"));
  if (json) {
    log::print(fmt::format(R"({{"output": {}, "documents": {}, "sequences": {}, "bytes": {}}})",
                           io::json_string(conversion.to), corpus.document_count(),
                           corpus.sequence_count(), bytes));
  } else {
    log::print(fmt::format("{}: {} documents, {} sequences of {}, {}", conversion.to,
                           corpus.document_count(), corpus.sequence_count(),
                           io::to_string(corpus.type()), readable_bytes(bytes)));
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
