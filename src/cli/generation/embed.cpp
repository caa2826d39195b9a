#include <algorithm>
#include <fstream>

#include "cli/commands.h"
#include "cli/data/tokenizer_flags.h"
#include "convert/model_logits.h"
#include "convert/model_reader.h"
#include "data/preprocess/document_reader.h"
#include "data/preprocess/json_text.h"
#include "io/hdf5/hdf5_file.h"
#include "models/bert/bert_batch.h"
#include "tensor/host_copy.h"
#include "utils/log.h"

// `mpitron embed`: a BERT's last hidden states, pooled to one vector of a document, as a data set
// [documents, hidden] of an HDF5 file in fp32. Host device and one rank only.

namespace mpitron::cli {
namespace {

using tensor::Tensor;
using tokenizers::TokenIds;

struct EmbedFlags {
  std::string load, input, output, key = "text", pooling = "mean";
  tokenizers::TokenizerOptions tokenizer{.type = "BertWordPieceLowerCase"};
  Index batch_size = 16;
};

void declare(Flags& flags, EmbedFlags& o) {
  flags.option("--load", o.load, "a checkpoint of mpitron or Megatron, or a Hugging Face folder");
  flags.required();
  flags.option("--input", o.input, "JSONL file of documents");
  flags.required();
  flags.option("--output-path", o.output, "HDF5 file: embeddings [documents, hidden], fp32");
  flags.required();
  flags.option("--json-key", o.key, "the field that holds a document's text");
  flags.option("--pooling", o.pooling, "mean: of all positions; cls: the first one");
  flags.choices({"mean", "cls"});
  flags.option("--batch-size", o.batch_size, "documents of one pass");
  add_tokenizer_options(flags, o.tokenizer);
}

/// Reads each document as [CLS] text [SEP] of at most `length` tokens; longer ones lose their end.
/// Error(data) names file and line, or says that there are no documents.
std::vector<TokenIds> read_documents(const EmbedFlags& o, const tokenizers::Tokenizer& tokenizer,
                                     Index length) {
  const tokenizers::Tokenizer::SpecialIds special = tokenizer.special_ids();
  if (!special.cls || !special.sep || !special.pad) {
    throw_usage("--tokenizer-type {}: has no [CLS], [SEP] or [PAD], which BERT reads",
                tokenizer.name());
  }
  data::DocumentReader reader({o.input}, data::TextDocuments::lines);
  data::JsonTextParser parser;
  data::DocumentBatch batch;
  std::vector<TokenIds> documents;
  while (reader.next(batch)) {
    for (const data::RawDocument& document : batch.documents) {
      TokenIds ids = {*special.cls};
      try {
        for (const std::string_view part : parser.parse(document.text, {&o.key, 1})[0]) {
          const TokenIds own = tokenizer.encode(part);
          ids.insert(ids.end(), own.begin(), own.end());
        }
      } catch (const Error& error) {
        throw_data("{}", batch.complaint(document, error.what()));
      }
      ids.resize(std::min(ids.size(), static_cast<std::size_t>(length) - 1));
      ids.push_back(*special.sep);
      documents.push_back(std::move(ids));
    }
  }
  if (documents.empty()) {
    throw_data("{}: no documents", o.input);
  }
  return documents;
}

/// An encoder in memory, and how its positions become one vector.
class Embedder {
 public:
  Embedder(device::Device& device, const models::Model& model, bool mean, std::int64_t padding)
      : device_(device), model_(model), mean_(mean), padding_(padding) {}

  /// Returns [documents, h] row by row. Documents are padded to the longest of the batch, and
  /// padding is hidden from attention, so a vector does not depend on its batch but for rounding.
  std::vector<float> operator()(std::span<const TokenIds> documents) const {
    const auto b = static_cast<Index>(documents.size());
    std::size_t longest = 0;
    for (const TokenIds& ids : documents) {
      longest = std::max(longest, ids.size());
    }
    const auto s = static_cast<Index>(longest);
    const auto length = [&](Index j) {
      return static_cast<Index>(documents[static_cast<std::size_t>(j)].size());
    };
    const Tensor hidden = tensor::empty_on_host(device_, {b, 1, s}, DType::u8);
    for (Index i = 0; i < b * s; ++i) {
      hidden.data<std::uint8_t>()[i] = i % s < length(i / s) ? 0 : 1;
    }
    const models::Batch batch{
        {models::kTokens, table(s, b,
                                [&](Index i, Index j) {
                                  const TokenIds& ids = documents[static_cast<std::size_t>(j)];
                                  return i < length(j) ? ids[static_cast<std::size_t>(i)]
                                                       : padding_;
                                })},
        {models::kPositionIds, table(s, b, [](Index i, Index) { return i; })},
        {models::kAttentionMask, tensor::to_device(device_, hidden)},
        {models::kTokenTypes, table(s, b, [](Index, Index) { return Index{0}; })}};
    autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate};
    return pooled(tensor::to_host(device_, model_.hidden(context, batch).value), length);
  }

 private:
  template <class Value>
  Tensor table(Index s, Index b, const Value& value) const {
    const Tensor values = tensor::empty_on_host(device_, {s, b}, DType::i64);
    for (Index i = 0; i < s * b; ++i) {
      values.data<std::int64_t>()[i] = value(i / b, i % b);
    }
    return tensor::to_device(device_, values);
  }

  /// Averages hidden states [s, b, h] over each document's own positions in double, or takes the
  /// first.
  template <class Length>
  std::vector<float> pooled(const Tensor& hidden, const Length& length) const {
    const Index b = hidden.shape()[1], h = hidden.shape()[2];
    std::vector<float> result;
    visit_dtype(hidden.dtype(), [&]<class T>() {
      for (Index j = 0; j < b; ++j) {
        const Index rows = mean_ ? length(j) : 1;
        for (Index k = 0; k < h; ++k) {
          double sum = 0;
          for (Index i = 0; i < rows; ++i) {
            sum += static_cast<double>(static_cast<float>(hidden.data<T>()[(i * b + j) * h + k]));
          }
          result.push_back(static_cast<float>(sum / static_cast<double>(rows)));
        }
      }
    });
    return result;
  }

  device::Device& device_;
  const models::Model& model_;
  bool mean_;
  std::int64_t padding_;
};

/// Creates the file with room for all rows and returns the byte at which they begin: rows are then
/// written without HDF5.
Index create_output(const EmbedFlags& o, Index rows, Index columns) {
  io::Hdf5File file(o.output, io::Hdf5File::Mode::create);
  const Index offset =
      file.create_data_set({.name = "embeddings", .shape = {rows, columns}, .dtype = DType::f32});
  file.set_attributes("/", {{"pooling", o.pooling}, {"model", o.load}, {"documents", o.input}});
  file.close();
  return offset;
}

void embed_documents(const EmbedFlags& o) {
  convert::ModelReader reader(o.load, {.format = convert::detect_format(o.load)});
  config::ModelConfig config = reader.description().model;
  if (config.family().samples != config::SampleKind::sentence_pairs) {
    throw_usage("--load {}: an encoder (BERT) is needed", o.load);
  }
  if (o.batch_size < 1) {
    throw_usage("--batch-size {}: at least 1 is needed", o.batch_size);
  }
  config.seq_length = config.max_position_embeddings;
  config.attention_dropout = config.hidden_dropout = 0;
  const auto tokenizer = tokenizers::make_tokenizer(o.tokenizer);
  const std::vector<TokenIds> documents = read_documents(o, *tokenizer, config.seq_length);
  const auto device = device::make_device("host");
  const auto model = convert::load_model(config, *device, reader.ours());
  const Embedder embed(*device, *model, o.pooling == "mean", *tokenizer->special_ids().pad);
  const Index offset = create_output(o, static_cast<Index>(documents.size()), config.hidden_size);
  std::fstream file(o.output, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  const auto size = static_cast<std::size_t>(o.batch_size);
  for (std::size_t first = 0; first < documents.size(); first += size) {
    const std::vector<float> rows =
        embed(std::span(documents).subspan(first, std::min(size, documents.size() - first)));
    file.write(reinterpret_cast<const char*>(rows.data()),
               static_cast<std::streamsize>(rows.size() * sizeof(float)));
  }
  file.close();
  if (!file) {
    throw_environment("--output-path {}: it cannot be written", o.output);
  }
  log::print(fmt::format("{} documents as {} numbers each: {}", documents.size(),
                         config.hidden_size, o.output));
}

}  // namespace

int embed(const Arguments& arguments) {
  EmbedFlags options;
  Flags flags("embed", "Writes a vector of each document, as an encoder (BERT) sees it.");
  declare(flags, options);
  if (!flags.parse(arguments)) {
    return static_cast<int>(ExitCode::success);
  }
  const device::HostRuntime runtime;
  embed_documents(options);
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
