#include "data/index/description.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

// The description decides the name of a cached index. It must be the text that Megatron's Python
// would make, so that both programs find each other's caches.

namespace mpitron::data {
namespace {

/// Returns the code point of the UTF-8 sequence at `at`, which moves behind it; a stray byte stands
/// for itself.
std::uint32_t decode(const std::string& text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t first = byte(at++);
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  std::uint32_t code = more == 0 ? first : first & (0x3fu >> more);
  for (int i = 0; i < more && at < text.size(); ++i) {
    code = code << 6 | (byte(at++) & 0x3fu);
  }
  return code;
}

/// Returns a JSON string in pure ASCII (UTF-16 escapes), which is Python's default.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::uint32_t code = decode(text, i);
    if (code == '"' || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code == '\n' || code == '\t' || code == '\r' || code == '\b' || code == '\f') {
      out += '\\';
      out += code == '\n'   ? 'n'
             : code == '\t' ? 't'
             : code == '\r' ? 'r'
             : code == '\b' ? 'b'
                            : 'f';
    } else if (code >= 0x20 && code < 0x7f) {
      out += static_cast<char>(code);
    } else if (code < 0x10000) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
    }
  }
  return out + '"';
}

/// Returns Python's repr of a float: shortest digits, with a point or an exponent.
std::string number(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string number(Index value) {
  return std::to_string(value);
}

template <class T, class Format>
std::string or_null(const std::optional<T>& value, Format&& format) {
  return value ? format(*value) : "null";
}

/// Returns `{` or `[` ... one item a line, indented by four spaces, inner lines of items too.
std::string block(char open, char close, const std::vector<std::string>& items) {
  std::string out(1, open);
  for (std::size_t i = 0; i < items.size(); ++i) {
    out += i > 0 ? ",\n    " : "\n    ";
    for (const char c : items[i]) {
      out += c;
      if (c == '\n') {
        out += "    ";
      }
    }
  }
  return out + '\n' + close;
}

std::string field(const char* key, const std::string& value) {
  return fmt::format("\"{}\": {}", key, value);
}

std::string describe(const SplitMatrix& matrix) {
  std::vector<std::string> rows;
  for (const Split split : kSplits) {
    const std::optional<Fractions>& part = matrix[split];
    // The first bound is Python's integer 0, which the sums that follow turn into floats.
    const auto begin = [&] { return split == Split::train ? "0" : number(part->begin); };
    rows.push_back(part ? block('[', ']', {begin(), number(part->end)}) : "null");
  }
  return block('[', ']', rows);
}

std::string describe(const tokenizers::TokenizerIdentity& tokenizer) {
  std::vector<std::string> paths;
  for (const auto& path : tokenizer.paths) {
    paths.push_back(or_null(path, quoted));
  }
  std::vector<std::string> fields{field("class", quoted(tokenizer.class_name)),
                                  field("tokenizer_path", block('[', ']', paths))};
  for (const auto& [name, value] : tokenizer.options) {
    fields.push_back(field(name.c_str(), quoted(value)));
  }
  return block('{', '}', fields);
}

void add_fields(const MaskedLmDescription& masking, std::vector<std::string>& fields) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  for (std::string& text : std::vector{
           field("masking_probability", number(masking.masking_probability)),
           field("short_sequence_probability", number(masking.short_sequence_probability)),
           field("masking_max_ngram", number(masking.masking_max_ngram)),
           field("masking_do_full_word", flag(true)), field("masking_do_permutation", flag(false)),
           field("masking_use_longer_ngrams", flag(false)),
           field("masking_use_geometric_distribution", flag(masking.geometric))}) {
    fields.push_back(std::move(text));
  }
  if (masking.classification_head) {
    fields.push_back(field("classification_head", flag(*masking.classification_head)));
  }
  if (masking.decoder_seq_length) {
    fields.push_back(field("sequence_length_decoder", number(*masking.decoder_seq_length)));
  }
}

}  // namespace

std::string describe(const GptDescription& dataset) {
  const auto matrix = [](const std::string& split) { return describe(parse_split(split)); };
  std::vector<std::string> fields{
      field("class", quoted(dataset.class_name)),
      field("dataset_path", or_null(dataset.dataset_path, quoted)),
      field("num_samples", or_null(dataset.num_samples, [](Index n) { return number(n); })),
      field("index_split", quoted(to_string(dataset.index_split))),
      field("random_seed", number(dataset.seed)),
      field("sequence_length", number(dataset.seq_length)),
      field("split", or_null(dataset.split, quoted)),
      field("split_matrix", or_null(dataset.split, matrix)),
      field("tokenizer", describe(dataset.tokenizer))};
  if (dataset.masked_lm) {
    add_fields(*dataset.masked_lm, fields);
  }
  return block('{', '}', fields);
}

std::string describe(const BlendDescription& blend) {
  std::vector<std::string> weights;
  for (const double weight : blend.weights) {
    weights.push_back(blend.size ? number(weight) : number(static_cast<Index>(weight)));
  }
  return block(
      '{', '}',
      {field("class", quoted("BlendedDataset")), field("datasets", block('[', ']', blend.members)),
       field("split", quoted(to_string(blend.split))), field("weights", block('[', ']', weights)),
       field("size", or_null(blend.size, [](Index n) { return number(n); }))});
}

}  // namespace mpitron::data
