#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules of positions: rotation, its factors, and how far they reach.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// A token behind the last position has no embedding.
Result sequence_fits(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (m.max_position_embeddings <= 0 || m.seq_length <= m.max_position_embeddings) {
    return {};
  }
  return Violation{fmt::format("{} > {}", m.seq_length, m.max_position_embeddings),
                   fmt::format("--max-position-embeddings {0} | --seq-length {1}", m.seq_length,
                               m.max_position_embeddings)};
}

/// The reference truncates d * percent and rounds the result up to an even number; the sum must fit
/// the head.
Result rotary_dimensions(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const Index head = m.rotary_head_dim();
  if (!m.has_rotary_positions() || head <= 0) {
    return {};
  }
  const auto dims = static_cast<Index>(static_cast<double>(head) * m.rotary_percent);
  const Index turned = dims + dims % 2;  // in pairs
  if (m.rotary_percent > 0 && m.rotary_percent <= 1 && dims > 0 && turned <= head) {
    return {};
  }
  return Violation{fmt::format("int({} * {}) = {}", head, m.rotary_percent, dims),
                   "--rotary-percent 1.0"};
}

/// Stretching divides frequencies: a factor of 0 or less has no meaning.
Result rotary_factors(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const Index interpolation = m.rotary_seq_len_interpolation_factor.value_or(1);
  if (interpolation >= 1 && m.rope_scaling_factor > 0 && m.rotary_scaling_factor > 0) {
    return {};
  }
  return Violation{
      fmt::format("{}, {}, {}", interpolation, m.rope_scaling_factor, m.rotary_scaling_factor), ""};
}

/// Returns what keeps images from standing at rows and columns; null where nothing does.
const char* without_rows_and_columns(const ModelConfig& m) {
  if (!m.vlm) {
    return nullptr;
  }
  const Index edge = m.vlm->seen_edge();
  return m.vlm->most_tiles() > 1             ? "--use-tiling"
         : edge * edge != m.vlm->positions() ? "a class token behind the encoder"
                                             : nullptr;
}

/// Each frequency turns by one axis, so that the sections together are all of them.
Result axes_of_rotation(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const bool wanted = f.values.text("position_embedding_type") == "mrope";
  if (!wanted && !f.values.given("mrope_section")) {
    return {};
  }
  const std::vector<Index>& parts = m.mrope_section;
  const Index sum = std::accumulate(parts.begin(), parts.end(), Index{0}), half = m.kv_channels / 2;
  const char* const wrong = !wanted                       ? "no --position-embedding-type mrope"
                            : without_rows_and_columns(m) ? without_rows_and_columns(m)
                            : m.rotary_base_local         ? "--rotary-base-local"
                            : !m.family().decoder_only    ? "an encoder"
                            : m.multi_latent_attention    ? "--multi-latent-attention"
                            : m.rotary_percent != 1       ? "--rotary-percent"
                            : parts.size() != 3           ? "not three numbers"
                            : std::ranges::min(parts) < 1 ? "a number below 1"
                            : sum != half                 ? "another sum"
                                                          : nullptr;
  return wrong == nullptr
             ? Result()
             : Violation{fmt::format("mrope_section {}, half a head {}: {}", fmt::join(parts, " "),
                                     half, wrong),
                         fmt::format("--position-embedding-type mrope --mrope-section {} {} {}",
                                     half - 2 * (half * 3 / 8), half * 3 / 8, half * 3 / 8)};
}

Result one_rotary_stretch(const Facts& f) {
  return f.run.model.rope_type == RopeType::yarn && f.run.model.use_rope_scaling
             ? Violation{"both are given", "--rope-type rope"}
             : Result();
}

/// A list must name every layer; a number must divide the layers, as the reference asserts.
Result layers_without_rotation(const Facts& f) {
  const std::optional<std::string> text = f.values.maybe_text("no_rope_freq");
  const Index layers = f.run.model.num_layers;
  if (!text || layers <= 0) {
    return {};
  }
  const Frequency frequency = parse_list_expression(*text);
  const auto entries = static_cast<Index>(frequency.entries.size());
  if (frequency.is_list) {
    return entries == layers
               ? Result()
               : Violation{fmt::format("the list has {} entries for {} layers", entries, layers),
                           ""};
  }
  if (frequency.number > 0 && layers % frequency.number == 0) {
    return {};
  }
  return Violation{fmt::format("{} layers, every {}-th", layers, frequency.number),
                   nearest_divisors("no-rope-freq", layers, std::max<Index>(1, frequency.number))};
}

constexpr std::array kPositionRules = std::to_array<Constraint>({
    {"E016", "sequence_fits", "seq_length <= max_position_embeddings",
     "seq-length max-position-embeddings", "Positions beyond the table have no embedding.",
     sequence_fits},
    {"E019", "rotary_dimensions",
     "0 < rotary_percent <= 1 and int(d * rotary_percent), made even, is in [2, d], d = "
     "kv_channels, or qk_pos_emb_head_dim of latent attention",
     "kv-channels qk-pos-emb-head-dim rotary-percent",
     "Rotation acts on pairs of dimensions: of an odd number of them, one more is turned.",
     rotary_dimensions},
    {"E020", "rotary_factors", "interpolation factor >= 1, scaling factors > 0",
     "rotary-seq-len-interpolation-factor rope-scaling-factor rotary-scaling-factor",
     "Positions and frequencies are divided by them.", rotary_factors},
    {"E021", "one_rotary_stretch", "--use-rope-scaling or --rope-type yarn, not both",
     "use-rope-scaling rope-type", "Both stretch the same frequencies, by different rules.",
     one_rotary_stretch},
    {"E022", "layers_without_rotation",
     "no_rope_freq divides num_layers, or lists one entry per layer", "no-rope-freq num-layers",
     "A number n skips the rotation in every n-th layer; a list names the layers (1: skip).",
     layers_without_rotation},
    {"E359", "axes_of_rotation",
     "--position-embedding-type mrope: three mrope_section of 1 or more, half a head together, of "
     "a decoder; of one that sees images, without --use-tiling and class token",
     "position-embedding-type mrope-section kv-channels rotary-percent model "
     "multi-latent-attention rotary-base-local use-tiling disable-vision-class-token",
     "A word stands at one place of time, height and width, a position of an image at its row and "
     "column.",
     axes_of_rotation},
});

}  // namespace

std::span<const Constraint> position_constraints() {
  return kPositionRules;
}

}  // namespace mpitron::config
