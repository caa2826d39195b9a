// Runs the frozen model of preference optimisation. A resumed run must find the values of its rows
// in the file: its weights have moved on, so it cannot compute them any more.
#include "train/loop/reference_pass.h"

#include "checkpoint/plan/agreement.h"
#include "tensor/host_copy.h"
#include "train/batches/microbatch_stream.h"
#include "utils/log.h"
#include "utils/timer.h"

namespace mpitron::train {
namespace {

constexpr const char* kReferenceFile = "reference.h5";

}  // namespace

/// Computes the margins of rows that are not known. Of each row one rank with the output layer has
/// the value and all others have 0; the sum over ranks tells it to all.
void ReferencePass::compute(const std::shared_ptr<const DistinctRows>& rows) const {
  auto [stream, batches] = whole_set(rows, rows->size(), config_, data_, model_);
  std::vector<double> values(static_cast<std::size_t>(rows->size()));
  const bool tells = model_.groups().tensor->rank() == 0 && model_.groups().context->rank() == 0;
  const auto take = [&](std::span<const models::Objective> objectives,
                        const DeviceMicrobatch& microbatch) {
    const tensor::Tensor margins = tensor::to_host(step_.device(), objectives.back().losses.value);
    const auto first = static_cast<std::size_t>(microbatch.first_sample);
    for (Index i = 0; tells && i < margins.numel(); ++i) {
      const std::size_t row = first + static_cast<std::size_t>(i);
      if (row < values.size()) {
        values[row] =
            static_cast<double>(margins.data<float>()[i]) / config_.model.preference->beta;
      }
    }
  };
  for (Index i = 0; i < batches; ++i) {
    step_.objectives(stream.next(), take);
  }
  model_.world()
      .all()
      ->all_reduce({values.data(), DType::f64, {static_cast<Index>(values.size())}})
      .wait();
  for (Index i = 0; i < rows->size(); ++i) {
    data_.reference->set(rows->row(i).key, values[static_cast<std::size_t>(i)]);
  }
}

void ReferencePass::run(bool begins) const {
  const Timer timer;
  const config::CheckpointConfig& files = config_.checkpoint;
  for (const auto& folder : {files.load, files.save}) {
    if (!begins && folder && std::filesystem::exists(*folder + '/' + kReferenceFile)) {
      data_.reference->read(*folder + '/' + kReferenceFile);
    }
  }
  const auto rows = distinct_rows(
      data_, config_, [this](std::uint64_t key) { return data_.reference->contains(key); });
  if (rows->size() == 0) {
    keep();
    return;
  }
  if (!begins) {
    throw Error(ExitCode::data,
                fmt::format("--dpo: {} pairs of the data have no log-probabilities of the model "
                            "that the run began with in {} of --load; give the data that it began "
                            "with, or begin anew with --finetune",
                            rows->size(), kReferenceFile),
                true);
  }
  model_.world().set_phase("log-probabilities of the reference");
  compute(rows);
  log::print(fmt::format("  log-probabilities of the reference: {} pairs in {:.1f} s", rows->size(),
                         timer.seconds()));
  keep();
}

void ReferencePass::keep() const {
  const auto& folder = config_.checkpoint.save;
  if (folder) {
    checkpoint::on_member_0(*model_.world().all(), [&] {
      std::filesystem::create_directories(*folder);
      data_.reference->write(*folder + '/' + kReferenceFile);
    });
  }
}

}  // namespace mpitron::train
