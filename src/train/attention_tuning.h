#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

#include "comm/world.h"
#include "config/run_config.h"
#include "device/device.h"
#include "kernels/attention_choice.h"

namespace mpitron::train {

/// The attentions of a training step that more than one kernel of a GPU may run: causal ones in
/// half types without dropout, document masks or a split sequence. Empty where there are none.
std::vector<kernels::AttentionShape> tunable_attention(const config::RunConfig& config);

/// Where choices are kept without --tuning-file: below $XDG_CACHE_HOME or ~/.cache, one file for
/// GPUs of one name. Empty where neither variable is set.
std::filesystem::path default_tuning_file(std::string_view gpu_name);

/// Sets which kernels run attention in this process (kernels/attention_choice.h), as
/// --attention-backend says. With `auto` on a GPU the choices of all ranks are those of rank 0:
/// read from the tuning file and, for shapes that it lacks, measured on its GPU and added. With
/// --deterministic-mode and without --tuning-file nothing is measured, and our own kernels run.
/// Every rank calls it, before kernels are launched.
void tune_attention(device::Device& device, comm::World& world, const config::RunConfig& config);

}  // namespace mpitron::train
