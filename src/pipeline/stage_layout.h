#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/parallel_config.h"
#include "utils/numbers/shape.h"

namespace mpitron::pipeline {

/// Contents of one chunk of a pipeline stage. A chunk without layers is legal.
struct ChunkLayers {
  Index first = 0;      // global number of its first transformer layer, from 0
  Index count = 0;      // transformer layers [first, first + count)
  Index mtp_count = 0;  // depths of multi-token prediction; all of them or none
  bool has_embedding = false;
  bool has_loss = false;  // final norm, output layer and loss
  /// True where the weight of the word embedding is needed besides the output layer's own.
  bool looks_up_words() const { return has_embedding || mtp_count > 0; }
  bool operator==(const ChunkLayers&) const = default;
};

struct ChunkPosition {
  Index stage = 0;
  Index chunk = 0;
  bool operator==(const ChunkPosition&) const = default;
};

/// Says which layers live where. The data flows through the stages of chunk 0, then through those
/// of chunk 1, and so on: virtual stage chunk * stages + stage.
class StageLayout {
 public:
  /// `chunks_in_order`: one entry per virtual stage, a multiple of `stages` many; `first` is filled
  /// in here.
  StageLayout(Index stages, std::vector<ChunkLayers> chunks_in_order);

  Index stages() const { return stages_; }
  /// Chunks per stage (the virtual pipeline size), 1 without interleaving.
  Index chunks() const { return static_cast<Index>(virtual_stages_.size()) / stages_; }
  Index num_layers() const { return num_layers_; }

  const ChunkLayers& layers(Index stage, Index chunk) const;
  /// Returns the place of a transformer layer.
  ChunkPosition owner(Index layer) const;

 private:
  Index stages_;
  Index num_layers_ = 0;
  std::vector<ChunkLayers> virtual_stages_;
};

/// The layout that the options describe: an even split, an explicit first or last stage, embedding
/// or loss in place of a layer, a layout string, or the bars of a pattern. Without a layout string
/// the multi-token prediction lives on the last virtual stage. Source: get_num_layers_to_build and
/// get_transformer_layer_offset of the reference; difference: offsets always add up (with several
/// chunks and only an explicit last stage the reference's do not). Error(usage) where the options
/// contradict each other or the layers do not divide.
StageLayout make_stage_layout(const config::ParallelConfig& parallel, Index num_layers,
                              Index mtp_num_layers = 0);

/// Reads the value of --pipeline-model-parallel-layout, such as `Et*3|(tt|)*29,m|L`: one string of
/// the letters E (embedding), t (transformer layer), m (multi-token prediction depth) and L (loss)
/// for each virtual stage, in the order of the data. `|` ends a stage, `x*N` and `(...)*N` repeat,
/// commas mean nothing, an empty stage is legal. Says nothing about what the stages have to hold.
/// Throws Error(usage) with the column of the mistake.
std::vector<std::string> parse_layout_string(std::string_view text);

/// Returns the number of chunks of a stage.
Index chunks_of(const config::ParallelConfig& p);

/// Whether embedding or loss count as a layer when layers are divided.
bool is_accounted(const config::ParallelConfig& p);

/// Whether first or last stage have a number of layers of their own.
bool is_uneven(const config::ParallelConfig& p);

/// Takes the layers of virtual stages from the layout string. Error(usage) quotes it.
std::vector<ChunkLayers> named_layers(const config::ParallelConfig& p, Index num_layers,
                                      Index mtp_num_layers);

/// Divides layers over virtual stages by the options of the split.
std::vector<ChunkLayers> split_layers(const config::ParallelConfig& p, Index num_layers,
                                      Index mtp_num_layers);

}  // namespace mpitron::pipeline
