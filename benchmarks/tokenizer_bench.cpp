// Speed of byte-level BPE on one thread:
//   tokenizer_bench [--dictionary TEXT] [--prose TEXT] [--only VOCABULARY] [--summary FILE]
// TEXT: plain UTF-8 (goals are set for the first 8 MB of Debian's dict-gcide and for bible-kjv).
// Defaults come from MPITRON_BENCH_DICTIONARY and MPITRON_BENCH_PROSE. VOCABULARY: gpt2 or cl100k,
// both from MPITRON_GOLDEN_DIR/tokenizer (tests/golden has gpt2 alone), or huggingface, the folder
// MPITRON_BENCH_HUGGINGFACE.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>

#include <unistd.h>

#include "benchmarks/text.h"
#include "data/preprocess/json_text.h"
#include "data/preprocess/preprocess.h"
#include "tokenizers/core/tokenizer.h"
#include "tokenizers/make_tokenizer.h"
#include "tokenizers/split/pre_tokenizer.h"
#include "utils/check.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"

namespace mpitron::data {
namespace {

using benchmarks::load_text;
using benchmarks::synthetic_text;

constexpr std::size_t kDocumentBytes = 4096;
constexpr int kRepetitions = 5;
constexpr std::size_t kPreprocessBytes = std::size_t{64} << 20;
constexpr double kPreprocessShare = 0.9;  // of encoding: of its goal, and of what it reaches

struct Figure {
  std::string name;
  double value;
  const char* unit;
  double goal;
  double peer;
};

double cpu_seconds() {  // of all threads
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// MB/s of CPU time of one pass; best of several.
double best_rate(std::size_t bytes, int repetitions, const std::function<void()>& pass) {
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    const double start = cpu_seconds();
    pass();
    best = std::max(best, static_cast<double>(bytes) * 1e-6 / (cpu_seconds() - start));
  }
  return best;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Documents of about 4 KB, cut at a space.
std::vector<std::string_view> documents_of(std::string_view text) {
  std::vector<std::string_view> documents;
  while (!text.empty()) {
    const std::size_t cut = text.find(' ', std::min(kDocumentBytes, text.size()));
    documents.push_back(text.substr(0, cut));
    text.remove_prefix(cut == std::string_view::npos ? text.size() : cut);
  }
  return documents;
}

struct Subject {
  std::string name;
  std::string_view pattern;
  tokenizers::TokenizerOptions options;
};

struct Text {
  std::string name;
  std::string text;
  double goal;  // of encoding
  double peer;  // the best one known
};

double lexer_rate(std::string_view pattern, const Text& text) {
  const tokenizers::PreTokenizer pre_tokenizer(pattern);
  const auto documents = documents_of(text.text);
  return best_rate(text.text.size(), kRepetitions, [&] {
    std::size_t pieces = 0;
    for (const std::string_view document : documents) {
      pre_tokenizer.for_each_piece(document, [&](std::string_view) { ++pieces; });
    }
    MPITRON_CHECK(pieces > 0);
  });
}

void measure(const tokenizers::Tokenizer& tokenizer, const std::string& name, const Text& text,
             std::vector<Figure>& figures) {
  const auto documents = documents_of(text.text);
  tokenizers::TokenIds ids;
  const auto pass = [&](tokenizers::Tokenizer::Cache& cache) {
    for (const std::string_view document : documents) {
      ids.clear();
      tokenizer.encode(document, cache, ids);
    }
  };
  const double cold =
      best_rate(text.text.size(), kRepetitions, [&] { pass(*tokenizer.make_cache()); });
  const auto cache = tokenizer.make_cache();
  pass(*cache);
  const double warm = best_rate(text.text.size(), kRepetitions, [&] { pass(*cache); });
  const std::string row = fmt::format("tokenizer_{}_{}", name, text.name);
  figures.push_back({row, cold, "MB/s", text.goal, text.peer});
  figures.push_back({row + "_warm_cache", warm, "MB/s", text.goal, text.peer});
}

// A megabyte without a space, which is one piece: merging must not be quadratic.
void measure_long_word(const tokenizers::Tokenizer& tokenizer, const std::string& name,
                       std::vector<Figure>& figures) {
  std::string word = synthetic_text(1000, std::size_t{1} << 20);
  std::erase_if(word, [](char c) { return c < 'a' || c > 'z'; });
  const double start = cpu_seconds();
  MPITRON_CHECK(!tokenizer.encode(word).empty());
  figures.push_back({fmt::format("tokenizer_{}_word_of_1_mb", name),
                     static_cast<double>(word.size()) * 1e-6 / (cpu_seconds() - start), "MB/s", 1,
                     0});
}

struct PreprocessInput {
  std::string text;  // enough that buffers, caches and files are in their steady state
  std::vector<std::string_view> documents;
  PreprocessOptions options;
};

PreprocessInput make_preprocess_input(const std::string& text,
                                      const std::filesystem::path& folder) {
  PreprocessInput input;
  while (input.text.size() < kPreprocessBytes) {
    input.text += text;
  }
  input.documents = documents_of(input.text);
  input.options.inputs = {folder / "in.jsonl"};
  input.options.output_prefix = folder / "out";
  AtomicFile file(input.options.inputs[0]);
  for (const std::string_view document : input.documents) {
    file.write("{\"text\": " + quote_json(document) + "}\n");
  }
  file.commit();
  return input;
}

// JSONL to .bin and .idx by one worker, as a share of the speed of encode alone. Both sides: CPU
// time of all threads (so of the writer too), the same documents, the bytes of their text without
// JSON's quotes, a cache that starts empty. Neither side loads the vocabulary. Only preprocess
// reads, parses, narrows, writes and syncs.
void measure_preprocess(const tokenizers::Tokenizer& tokenizer, const std::string& name,
                        const Text& text, std::vector<Figure>& figures) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("mpitron-bench-{}", ::getpid());
  std::filesystem::create_directory(folder);
  const PreprocessInput input = make_preprocess_input(text.text, folder);
  std::vector<double> whole;
  std::vector<double> share;
  for (int i = 0; i < kRepetitions; ++i) {  // in turns, so that both see the same machine
    const double encode = best_rate(input.text.size(), 1, [&] {
      const auto cache = tokenizer.make_cache();
      tokenizers::TokenIds ids;
      for (const std::string_view document : input.documents) {
        ids.clear();
        tokenizer.encode(document, *cache, ids);
      }
    });
    whole.push_back(best_rate(input.text.size(), 1, [&] { preprocess(tokenizer, input.options); }));
    share.push_back(100 * whole.back() / encode);
  }
  std::filesystem::remove_all(folder);
  const std::string row = fmt::format("{}_{}", name, text.name);
  figures.push_back(
      {"preprocess_jsonl_" + row, median(whole), "MB/s", kPreprocessShare * text.goal, text.peer});
  figures.push_back(
      {"preprocess_share_of_encode_" + row, median(share), "%", 100 * kPreprocessShare, 0});
}

void write_summary(const std::string& path, const std::vector<Figure>& figures) {
  std::string json = "[";
  for (const Figure& figure : figures) {
    json += fmt::format(
        R"({}{{"name":{},"value":{:.1f},"unit":{},"goal":{},"higher_is_better":true,"limit":null,)"
        R"("peer":{}}})",
        json.size() > 1 ? ",\n" : "", quote_json(figure.name), figure.value,
        quote_json(figure.unit), figure.goal,
        figure.peer > 0 ? fmt::format("{}", figure.peer) : "null");
  }
  AtomicFile file(path);
  file.write(json + "]\n");
  file.commit();
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<Subject> subjects() {
  const std::string given = environment("MPITRON_GOLDEN_DIR");
  const std::string golden =
      (given.empty() ? MPITRON_SOURCE_DIR "/tests/golden" : given) + "/tokenizer/";
  std::vector<Subject> all = {
      {"gpt2",
       tokenizers::kGpt2Pattern,
       {.vocab_file = golden + "gpt2/vocab.json", .merge_file = golden + "gpt2/merges.txt"}},
      {"cl100k",
       tokenizers::kCl100kPattern,
       {.type = "TikTokenizer",
        .tokenizer_model = golden + "cl100k_base.tiktoken",
        .tiktoken_pattern = "cl100k"}}};
  if (const std::string folder = environment("MPITRON_BENCH_HUGGINGFACE"); !folder.empty()) {
    all.push_back({"huggingface", {}, {.type = "HuggingFaceTokenizer", .tokenizer_model = folder}});
  }
  return all;
}

std::vector<Figure> measure_all(const std::vector<Text>& texts, const std::string& only) {
  std::vector<Figure> figures;
  for (const Text& text : texts) {
    for (const auto& [name, pattern] : {std::pair("gpt2", tokenizers::kGpt2Pattern),
                                        std::pair("cl100k", tokenizers::kCl100kPattern),
                                        std::pair("o200k", tokenizers::kO200kPattern)}) {
      figures.push_back({fmt::format("tokenizer_lexer_{}_{}", name, text.name),
                         lexer_rate(pattern, text), "MB/s", 250, 0});
    }
  }
  for (const Subject& subject : subjects()) {
    if (!only.empty() && subject.name != only) {
      continue;
    }
    const auto tokenizer = tokenizers::make_tokenizer(subject.options);
    for (const Text& text : texts) {
      measure(*tokenizer, subject.name, text, figures);
    }
    measure_long_word(*tokenizer, subject.name, figures);
    for (const Text& text : texts) {
      measure_preprocess(*tokenizer, subject.name, text, figures);
    }
  }
  return figures;
}

int run(int argc, char** argv) {
  std::map<std::string, std::string> options = {
      {"--dictionary", environment("MPITRON_BENCH_DICTIONARY")},
      {"--prose", environment("MPITRON_BENCH_PROSE")},
      {"--only", ""},
      {"--summary", ""}};
  for (int i = 1; i < argc; i += 2) {
    if (!options.contains(argv[i]) || i + 1 == argc) {
      throw_usage("unknown option or missing value: {}", argv[i]);
    }
    options[argv[i]] = argv[i + 1];
  }
  const std::vector<Text> texts = {
      {"dictionary", load_text(options["--dictionary"], "dictionary", 200'000), 40, 14.4},
      {"prose", load_text(options["--prose"], "prose", 10'000), 80, 38.0}};
  const std::vector<Figure> figures = measure_all(texts, options["--only"]);
  for (const Figure& figure : figures) {
    log::print(fmt::format("{:<40} {:8.1f} {} (goal {})", figure.name, figure.value, figure.unit,
                           figure.goal));
  }
  if (!options["--summary"].empty()) {
    write_summary(options["--summary"], figures);
  }
  return 0;
}

}  // namespace
}  // namespace mpitron::data

int main(int argc, char** argv) {
  try {
    return mpitron::data::run(argc, argv);
  } catch (const mpitron::Error& error) {
    mpitron::log::error("{}", error.what());
    return static_cast<int>(error.code());
  }
}
