#include <functional>
#include <iostream>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/data/tokenizer_flags.h"
#include "cli/flags.h"
#include "data/preprocess/json_text.h"
#include "data/preprocess/preprocess.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron tokenize encode|decode|count`: what a tokenizer makes of texts. One line of JSON in
// gives one line out (count: one object for all), so that a script can compare two tokenizers line
// by line.

namespace mpitron::cli {
namespace {

struct TokenizeFlags {
  tokenizers::TokenizerOptions tokenizer;
  std::string input = "/dev/stdin";
  std::string key = "text";
};

using PerLine = std::function<void(std::string_view line)>;

/// Reads the input as the preprocessor does; an error names file and line.
void for_each_line(const TokenizeFlags& options, const PerLine& per_line) {
  data::DocumentReader reader({options.input}, data::TextDocuments::lines);
  data::DocumentBatch batch;
  while (reader.next(batch)) {
    for (const data::RawDocument& document : batch.documents) {
      try {
        per_line(document.text);
      } catch (const Error& error) {
        throw_data("{}:{}: {}", options.input, document.line, error.what());
      }
    }
  }
}

/// Calls `use` with the ids and the text's bytes of each line. The ids are those of the
/// preprocessor: no special tokens at either end but what the tokenizer itself adds.
void encode_lines(const TokenizeFlags& options, const tokenizers::Tokenizer& tokenizer,
                  const std::function<void(std::size_t bytes, const tokenizers::TokenIds&)>& use) {
  const auto cache = tokenizer.make_cache();
  data::JsonTextParser parser;
  tokenizers::TokenIds ids;
  const std::vector<std::string> keys = {options.key};
  for_each_line(options, [&](std::string_view line) {
    ids.clear();
    std::size_t bytes = 0;
    for (const std::string_view text : parser.parse(line, keys)[0]) {
      tokenizer.encode(text, *cache, ids);
      bytes += text.size();
    }
    use(bytes, ids);
  });
}

int encode(const TokenizeFlags& options, const tokenizers::Tokenizer& tokenizer) {
  encode_lines(options, tokenizer, [](std::size_t, const tokenizers::TokenIds& ids) {
    log::print(fmt::format("{{\"ids\": [{}]}}", fmt::join(ids, ", ")));
  });
  return 0;
}

int decode(const TokenizeFlags& options, const tokenizers::Tokenizer& tokenizer) {
  for_each_line(options, [&](std::string_view line) {
    const std::string text = tokenizer.decode(data::parse_id_list(line, "ids"));
    log::print(fmt::format("{{\"text\": {}}}", data::quote_json(text)));
  });
  return 0;
}

int count(const TokenizeFlags& options, const tokenizers::Tokenizer& tokenizer) {
  Index documents = 0;
  Index tokens = 0;
  Index bytes = 0;
  encode_lines(options, tokenizer, [&](std::size_t text_bytes, const tokenizers::TokenIds& ids) {
    ++documents;
    tokens += static_cast<Index>(ids.size());
    bytes += static_cast<Index>(text_bytes);
  });
  log::print(fmt::format(
      "{{\"documents\": {}, \"tokens\": {}, \"bytes\": {}, \"bytes_per_token\": {:.3f}}}",
      documents, tokens, bytes,
      static_cast<double>(bytes) / static_cast<double>(std::max<Index>(tokens, 1))));
  return 0;
}

/// Reads the options of `action` and runs it.
int run(const char* action, int (*work)(const TokenizeFlags&, const tokenizers::Tokenizer&),
        const Arguments& arguments) {
  TokenizeFlags options;
  Flags flags(std::string("tokenize ") + action,
              "Shows what a tokenizer makes of texts, one JSON object on each line.");
  flags.option("--input", options.input, "JSONL file; the default is standard input");
  if (work != decode) {
    flags.option("--json-key", options.key, "key of the text in each JSON object");
  }
  add_tokenizer_options(flags, options.tokenizer);
  if (!flags.parse(arguments)) {
    return 0;
  }
  return work(options, *tokenizers::make_tokenizer(options.tokenizer));
}

}  // namespace

int tokenize(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"encode", R"({"text": "..."} on each line -> {"ids": [...]})",
       [](const Arguments& words) { return run("encode", encode, words); }},
      {"decode", R"({"ids": [...]} on each line -> {"text": "..."})",
       [](const Arguments& words) { return run("decode", decode, words); }},
      {"count", R"({"text": "..."} on each line -> one object with the sums)",
       [](const Arguments& words) { return run("count", count, words); }},
  };
  return run_command_of("tokenize", kCommands, arguments);
}

}  // namespace mpitron::cli
