#include "tokenizers/bpe/bpe_model.h"

#include <simdjson.h>

#include "tokenizers/bpe/merge_reader.h"
#include "tokenizers/text/byte_alphabet.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/utf8.h"

// vocab.json and merges.txt. Tokens and merges that appear twice are errors that name the file.

namespace mpitron::tokenizers {
namespace {

using Ids = TokenIdsByText;
using Path = std::filesystem::path;

/// Returns tokens by id, still in the printable alphabet of GPT-2 that stands for bytes.
std::vector<std::string> load_tokens(const Path& file) {
  std::vector<std::pair<std::string, std::int64_t>> members;
  try {
    members = parse_integer_object(MappedFile(file).text());
  } catch (const Error& error) {
    if (!std::filesystem::exists(file)) {
      throw_data("--vocab-file: {}", error.what());
    }
    throw_data("--vocab-file {}: a JSON object of tokens and ids is expected: {}", file.string(),
               error.what());
  }
  const auto size = static_cast<std::int64_t>(members.size());
  std::vector<std::string> tokens(members.size());
  for (auto& [token, id] : members) {
    if (id < 0 || id >= size || token.empty() || !tokens[static_cast<std::size_t>(id)].empty()) {
      throw_data(
          "--vocab-file {}: the ids of its {} tokens must be 0 to {}, each once; \"{}\" has {}",
          file.string(), size, size - 1, token, id);
    }
    tokens[static_cast<std::size_t>(id)] = std::move(token);
  }
  return tokens;
}

Ids ids_of(const std::vector<std::string>& tokens, const Path& file) {
  Ids ids;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (!ids.emplace(tokens[id], static_cast<TokenId>(id)).second) {
      throw_data("--vocab-file {}: token \"{}\" appears twice", file.string(), tokens[id]);
    }
  }
  return ids;
}

/// Returns the id of each of the 256 bytes. Without all of them some text would have no ids:
/// Error(data).
std::vector<TokenId> find_bytes(const Ids& ids, const Path& file) {
  std::vector<TokenId> found;
  for (int byte = 0; byte < 256; ++byte) {
    const auto id = ids.find(bytes_to_alphabet(std::string(1, static_cast<char>(byte))));
    if (id == ids.end()) {
      throw_data("--vocab-file {}: has no token for byte 0x{:02X}: not a byte-level BPE vocabulary",
                 file.string(), byte);
    }
    found.push_back(id->second);
  }
  return found;
}

/// Quotes as Python's json.dump does by default (ASCII only), so that files are equal byte for
/// byte. The alphabet has no control characters and none beyond U+FFFF.
std::string quote_ascii(std::string_view token) {
  std::string quoted = "\"";
  while (!token.empty()) {
    const Utf8Char next = decode_utf8(token);
    if (next.code_point >= 0x7F) {
      quoted += fmt::format("\\u{:04x}", next.code_point);
    } else {
      quoted += next.code_point == '"' || next.code_point == '\\' ? "\\" : "";
      quoted += static_cast<char>(next.code_point);
    }
    token.remove_prefix(static_cast<std::size_t>(next.bytes));
  }
  return quoted + '"';
}

}  // namespace

/// Merges are looked up in the printable alphabet; tokens become bytes at the end. The special
/// token is plain ASCII, which the alphabet maps to itself.
BpeModel load_bpe_model(const Path& vocab_file, const Path& merge_file) {
  BpeModel model;
  model.tokens = load_tokens(vocab_file);
  const Ids ids = ids_of(model.tokens, vocab_file);
  model.byte_ids = find_bytes(ids, vocab_file);
  const auto eod = ids.find(std::string(kEndOfText));
  if (eod == ids.end()) {
    throw_data("--vocab-file {}: has no token \"{}\", which ends a document", vocab_file.string(),
               kEndOfText);
  }
  model.eod = eod->second;
  if (!std::filesystem::exists(merge_file)) {
    throw_data("--merge-file: {}: no such file", merge_file.string());
  }
  model.merges = MergeReader(merge_file, vocab_file, ids).read();
  for (std::string& token : model.tokens) {
    token = alphabet_to_bytes(token);
  }
  return model;
}

/// Commits both files after both were written, so that a full disk leaves no pair that does not
/// fit.
void save_bpe_model(const BpeModel& model, const Path& vocab_file, const Path& merge_file) {
  AtomicFile merges(merge_file);
  merges.write("#version: 0.2\n");
  const auto token = [&](TokenId id) {
    return bytes_to_alphabet(model.tokens[static_cast<std::size_t>(id)]);
  };
  for (const BpeModel::Merge& merge : model.merges) {
    merges.write(token(merge.left) + ' ' + token(merge.right) + '\n');
  }
  AtomicFile vocabulary(vocab_file);
  for (std::size_t id = 0; id < model.tokens.size(); ++id) {
    vocabulary.write(fmt::format("{}{}: {}", id == 0 ? "{" : ", ",
                                 quote_ascii(token(static_cast<TokenId>(id))), id));
  }
  vocabulary.write("}\n");
  merges.commit();
  vocabulary.commit();
}

namespace dom = simdjson::dom;

std::vector<std::pair<std::string, std::int64_t>> parse_integer_object(std::string_view json) {
  dom::parser parser;
  dom::element root;
  const char* text = json.empty() ? "" : json.data();  // an empty file's view is null; memcpy minds
  if (const auto code = parser.parse(text, json.size()).get(root); code != simdjson::SUCCESS) {
    const std::string why = simdjson::error_message(code);
    throw_data("not valid JSON: {}", why.substr(0, why.find_first_of(".\n")));
  }
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    throw_data("a JSON object of integers is expected");
  }
  std::vector<std::pair<std::string, std::int64_t>> members;
  for (const dom::key_value_pair field : object) {
    std::int64_t value = 0;
    if (field.value.get(value) != simdjson::SUCCESS) {
      throw_data("key \"{}\" must hold an integer", field.key);
    }
    members.emplace_back(field.key, value);
  }
  return members;
}

}  // namespace mpitron::tokenizers
