// Speed of the SentencePiece engine against the library of that name, on one thread, in turns:
//   sentencepiece_bench [--text FILE] [--summary FILE]
// FILE: plain UTF-8, of which the first 4 MB count; default MPITRON_BENCH_PROSE, or else a made-up
// text. Both models (8000 pieces) are trained on it by the library. Built only where
// libsentencepiece is installed.
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <unistd.h>

#include "benchmarks/text.h"
#include "tokenizers/sentencepiece/sentencepiece.h"
#include "utils/check.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/text/utf8.h"

namespace mpitron::tokenizers {
namespace {

constexpr int kRepetitions = 3;
constexpr std::size_t kTextBytes = std::size_t{4} << 20;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

struct Speeds {
  double ours = 0;  // MB/s of CPU time, best of several
  double library = 0;
};

Speeds measure(const std::filesystem::path& model, const std::vector<std::string>& lines,
               std::size_t bytes) {
  const SentencePiece pieces(load_sentencepiece_model(model));
  sentencepiece::SentencePieceProcessor library;
  MPITRON_CHECK(library.Load(model.string()).ok());
  Speeds speeds;
  for (int i = 0; i < kRepetitions; ++i) {
    const double start = cpu_seconds();
    std::size_t ours = 0;
    SentencePiece::Cache cache;
    TokenIds ids;
    for (const std::string& line : lines) {
      ids.clear();
      pieces.encode(line, cache, ids);
      ours += ids.size();
    }
    const double middle = cpu_seconds();
    std::size_t theirs = 0;
    std::vector<int> library_ids;
    for (const std::string& line : lines) {
      MPITRON_CHECK(library.Encode(line, &library_ids).ok());
      theirs += library_ids.size();
    }
    MPITRON_CHECK(ours == theirs, ours, theirs);
    const double megabytes = static_cast<double>(bytes) * 1e-6;
    speeds.ours = std::max(speeds.ours, megabytes / (middle - start));
    speeds.library = std::max(speeds.library, megabytes / (cpu_seconds() - middle));
  }
  return speeds;
}

int run(int argc, char** argv) {
  const char* prose = std::getenv("MPITRON_BENCH_PROSE");
  std::string given = prose != nullptr ? prose : "";
  std::string summary;
  for (int i = 1; i + 1 < argc; i += 2) {
    (std::string_view(argv[i]) == "--text" ? given : summary) = argv[i + 1];
  }
  const std::string text =
      replace_invalid_utf8(benchmarks::load_text(given, "prose", 20'000).substr(0, kTextBytes));
  const std::vector<std::string> lines = lines_of(text);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("mpitron-spm-bench-{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::filesystem::path text_file = folder / "text";
  AtomicFile copy(text_file);
  copy.write(text);
  copy.commit();
  std::string json;
  for (const std::string kind : {"unigram", "bpe"}) {
    const std::string arguments = fmt::format(
        "--input={} --model_prefix={} --model_type={} --vocab_size=8000 --hard_vocab_limit=false "
        "--minloglevel=2 --input_sentence_size=20000",
        text_file.string(), (folder / kind).string(), kind);
    MPITRON_CHECK(sentencepiece::SentencePieceTrainer::Train(arguments).ok());
    const Speeds speeds = measure((folder / kind).string() + ".model", lines, text.size());
    log::print(fmt::format("{:8} {:7.1f} MB/s, the library {:7.1f} MB/s: {:.1f} times", kind,
                           speeds.ours, speeds.library, speeds.ours / speeds.library));
    json += fmt::format(
        R"({}{{"name":"sentencepiece_{}_over_library","value":{:.2f},"unit":"x","goal":3,)"
        R"("higher_is_better":true,"limit":null,"peer":1}})",
        json.empty() ? "[" : ",\n", kind, speeds.ours / speeds.library);
  }
  std::filesystem::remove_all(folder);
  if (!summary.empty()) {
    AtomicFile file(summary);
    file.write(json + "]\n");
    file.commit();
  }
  return 0;
}

}  // namespace
}  // namespace mpitron::tokenizers

int main(int argc, char** argv) {
  try {
    return mpitron::tokenizers::run(argc, argv);
  } catch (const mpitron::Error& error) {
    mpitron::log::print(error.what());
    return static_cast<int>(error.code());
  }
}
