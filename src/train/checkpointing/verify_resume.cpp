#include <cstring>

#include "checkpoint/folders/folder.h"
#include "checkpoint/plan/agreement.h"
#include "checkpoint/read/checkpoint_reader.h"
#include "tensor/host_copy.h"
#include "train/checkpointing/checkpoint_loader.h"
#include "train/checkpointing/checkpoint_state.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::train {

/// Reads what was just saved into memory of its own, and compares every byte with the running
/// state.
void verify_resume(comm::World& world, TrainStep& step, const SavedRun& saved) {
  const std::filesystem::path path = saved.folder.file(saved.iteration);
  checkpoint::CheckpointReader reader(world, path);
  StateToLoad state(reader.file().header(), false);
  step.visit_model(state);
  if (saved.with_optimizer) {
    step.visit_optimizer(state);
  }
  tensor::HostMirror mirror(step.device());
  std::vector<tensor::TensorView> values;
  std::vector<checkpoint::LoadTarget> shadows;
  std::vector<std::vector<std::byte>> memory;
  for (const checkpoint::LoadTarget& target : state.tensors()) {
    values.push_back(mirror.of(target.tensor).value);
    memory.emplace_back(static_cast<std::size_t>(target.tensor.value.bytes()));
    shadows.push_back({target.tensor, {target.tensor.name}});
    shadows.back().tensor.value.data = memory.back().data();
  }
  mirror.wait();
  reader.read(shadows);
  std::string different;
  for (std::size_t i = 0; i < shadows.size(); ++i) {
    if (std::memcmp(memory[i].data(), values[i].data, memory[i].size()) != 0) {
      different += (different.empty() ? "" : ", ") + shadows[i].tensor.name;
    }
  }
  if (!different.empty()) {
    different =
        fmt::format("{}: read back, these are not what was saved: {}", path.string(), different);
  }
  const comm::GroupHandle all = world.all();
  checkpoint::throw_first_error(*all, different);
  checkpoint::on_member_0(*all, [&] {
    checkpoint::record_verified_resume(saved.folder, saved.iteration, saved.build);
  });
  log::print(fmt::format("  checkpoint of iteration {} read back: all bits are those of the run",
                         saved.iteration));
}

}  // namespace mpitron::train
