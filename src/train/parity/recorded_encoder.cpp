#include "train/parity/recorded_encoder.h"

#include <algorithm>
#include <cmath>

#include "models/llava/llava_batch.h"
#include "models/llava/llava_model.h"
#include "tensor/host_copy.h"
#include "train/parity/recorded_batches.h"

namespace mpitron::train {
namespace {

/// Rows of one image each, with a token behind it: the shortest text that a vision-language model
/// reads.
struct RowsOfImages {
  explicit RowsOfImages(const io::SafetensorsFile& file)
      : pixels(recorded_column<float, float>(file, "images")),
        count(file.at("images").shape.at(0)),
        labels(static_cast<std::size_t>(2 * count)),
        ones(static_cast<std::size_t>(count), 1),
        mask(labels.size()) {
    for (Index row = 0; row < count; ++row) {
      tokens.insert(tokens.end(), {config::kImageToken, 0});
    }
  }

  HostMicrobatch microbatch(Index seq_length) const {
    return {.samples = count,
            .sequence_length = seq_length,
            .columns = {{models::kTokens, tokens},
                        {models::kLabels, labels},
                        {models::kLossMask, mask},
                        {models::kPixels, pixels},
                        {models::kImagesPerRow, ones},
                        {models::kTilesPerImage, ones}}};
  }

  std::vector<float> pixels;
  Index count;
  std::vector<std::int64_t> tokens, labels, ones;
  std::vector<float> mask;
};

}  // namespace

double compare_encoder(device::Device& device, TrainedModel& model,
                       const std::filesystem::path& folder) {
  double worst = 0;
  if (model.has_embedding()) {
    const RowsOfImages images(io::SafetensorsFile(folder / "batches.safetensors"));
    const auto& vlm = dynamic_cast<const models::LlavaModel&>(model.chunk(0));
    const models::Batch batch =
        vlm.batch(images.microbatch(vlm.config().seq_length), {.map = {}, .length = 0});
    autograd::Context context{.device = device, .mode = autograd::Mode::evaluate};
    const tensor::Tensor output =
        tensor::to_host(device, vlm.tower_output(context, batch).value);  // [s, T_local, h]
    const io::SafetensorsFile file(folder / "logits.safetensors");
    const auto recorded = file.at("output").as<float>();
    const Index s = output.shape()[0], tiles = output.shape()[1], h = output.shape()[2];
    const Index first = model.groups().context->rank() * tiles;
    for (Index i = 0; i < output.numel(); ++i) {
      const Index tile = first + i / h % tiles, position = i / h / tiles;
      if (tile >= images.count) {
        continue;
      }
      const double found = visit_dtype(output.dtype(), [&]<class T>() {
        return static_cast<double>(static_cast<float>(output.data<T>()[i]));
      });
      const double difference =
          std::abs(found - static_cast<double>(recorded[(tile * s + position) * h + i % h]));
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
  }
  return model.world().all()->reduce(worst, comm::Reduction::maximum);
}

}  // namespace mpitron::train
