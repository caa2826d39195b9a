#pragma once
#include <memory>

#include "inference/engine_interface.h"
#include "models/base/model.h"

namespace mpitron::inference {

/// Why a model cannot run on the engine that keeps keys and values, in a few words; empty where it
/// can.
std::string no_cached_path(const config::ModelConfig& config);

/// Why a GPU cannot compute what a model does between its products, in a few words; empty where it
/// can.
std::string no_path_on_gpu(const config::ModelConfig& config);

/// Why steps of a model cannot be recorded as graphs, in a few words; empty where they can.
std::string no_recorded_steps(const config::ModelConfig& config);

/// Why types cannot be chosen in which a model's states are kept, in a few words; empty where they
/// can.
std::string no_state_types(const config::ModelConfig& config, bool on_host);

/// Whether the cached engine reads a parameter in products alone, so that it may be kept packed in
/// place of its value.
bool in_products_alone(const autograd::Parameter& parameter);

/// Places that engines need for what layers carry beside keys, with so many sequences at a time; 0
/// where none carries anything.
Index states_for(const config::ModelConfig& config, Index slots);

/// The engine for a model of one rank: the cached one, or the uncached one where the kind of model
/// has no cached path. `shape`: the model's vocabularies and positions are filled in.
std::unique_ptr<Engine> make_engine(device::Device& device, const models::Model& model,
                                    EngineShape shape, Index vocabulary);

}  // namespace mpitron::inference
