#include "parallel/joined_data_parallel.h"

#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "autograd/parameter_unit.h"
#include "autograd/toy_model.h"
#include "support/replicas.h"

namespace mpitron::parallel {
namespace joined_data_parallel_test {

using autograd::Context;
using autograd::Tape;
using autograd::Var;
namespace toy = autograd::toy;

constexpr Index kRanks = 4, kLayers = 4, kWidth = 8;

/// Layers of one dense matrix; every second one has an expert behind it. Two ranks each hold an
/// expert: even ranks the first, odd ranks the second.
class Layers {
 public:
  Layers(device::Device& device, Index rank) : device_(device) {
    for (Index unit = 0; unit <= kLayers; ++unit) {
      make("dense " + std::to_string(unit), unit);
      if (has_expert(unit)) {
        make("expert " + std::to_string(unit) + " " + std::to_string(rank % 2), unit)
            .placement.expert = true;
      }
    }
  }
  Var forward(Context& context, Var x) {
    auto weight = parameters_.begin();
    x = toy::linear(context, x, *weight++);
    for (Index unit = 1; unit <= kLayers; ++unit) {
      const auto layer = [&weight, unit](Context& inner, const Var& in) {
        const Var y = toy::linear(inner, in, *weight++);
        return has_expert(unit) ? toy::linear(inner, y, *weight++) : y;
      };
      x = autograd::in_unit(context, unit, layer, x);
    }
    return x;
  }
  autograd::ParameterList& parameters() { return parameters_; }
  std::vector<Parameter*> kind(bool experts) {
    return parameters_.where(
        [experts](const Parameter& p) { return p.placement.expert == experts; });
  }

 private:
  static bool has_expert(Index unit) { return unit > 0 && unit % 2 == 0; }
  Parameter& make(const std::string& name, Index unit) {
    Parameter& weight = toy::make_weight(device_, parameters_, kWidth, kWidth);
    weight.name = name;
    weight.placement.unit = unit;
    return weight;
  }

  device::Device& device_;
  autograd::ParameterList parameters_;
};

void run_step(device::Device& device, Layers& layers, DataParallel& replicas, unsigned rank) {
  replicas.begin_step();
  Tape tape;
  for (unsigned i = 0; i < 2; ++i) {
    Context cx{.device = device, .recorder = {.tape = &tape, .usage = &tape, .keeper = &replicas}};
    cx.recorder.last_microbatch = i == 1;
    const auto input = [&](unsigned seed) {
      return test::random_tensor(device, {6, kWidth}, DType::f32, seed + 10 * rank + i);
    };
    const Var y = layers.forward(cx, autograd::variable(input(100)));
    tape.backward(cx, y.slot, input(200));
    tape.clear();
  }
  replicas.finish_step();
}

/// Experts are replicated by the ranks of equal parity, all else by all ranks. `shards`: replicas
/// share what they hold.
std::unique_ptr<DataParallel> join(comm::World& world, device::Device& device, Layers& layers,
                                   DataParallelOptions options) {
  const comm::GroupHandle alone = world.make_group("alone", {world.rank()});
  const comm::GroupHandle parity =
      world.make_group("parity", {world.rank() % 2, world.rank() % 2 + 2});
  options.overlap_grad_reduce = true;
  const auto groups = [&](const comm::GroupHandle& all) {
    return options.sharding == Sharding::none ? ReplicaGroups{alone, all}
                                              : ReplicaGroups{all, alone};
  };
  return std::make_unique<JoinedDataParallel>(
      make_data_parallel(device, layers.kind(false), options, groups(world.all())),
      make_data_parallel(device, layers.kind(true), options, groups(parity)));
}

using Elements = std::map<std::pair<std::string, Index>, std::vector<double>>;

/// What the ranks say of each element: of each the gradients of those that count it.
Elements counted_gradients(const DataParallelOptions& options) {
  Elements elements;
  std::mutex mutex;
  comm::run_thread_world(kRanks, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    Layers layers(*device, world.rank());
    const auto replicas = join(world, *device, layers, options);
    run_step(*device, layers, *replicas, static_cast<unsigned>(world.rank()));
    const std::lock_guard lock(mutex);
    for (const ParameterPiece& piece : replicas->pieces()) {
      const std::vector<double> values = test::values_of(piece.main_grad);
      for (std::size_t i = 0; piece.counted && i < values.size(); ++i) {
        elements[{piece.parameter->name, piece.begin + static_cast<Index>(i)}].push_back(values[i]);
      }
    }
  });
  return elements;
}

/// Of every rank alone, summed over those that hold the parameter.
std::map<std::string, std::vector<double>> expected_gradients() {
  std::map<std::string, std::vector<double>> sums;
  std::mutex mutex;
  comm::run_thread_world(kRanks, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    Layers layers(*device, world.rank());
    const comm::GroupHandle alone = world.make_group("alone", {world.rank()});
    const auto replicas =
        make_data_parallel(*device, layers.parameters().all(), {}, {alone, alone});
    run_step(*device, layers, *replicas, static_cast<unsigned>(world.rank()));
    const std::lock_guard lock(mutex);
    for (const ParameterPiece& piece : replicas->pieces()) {
      const std::vector<double> values = test::values_of(piece.main_grad);
      std::vector<double>& sum = sums[piece.parameter->name];
      sum.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        sum[i] += values[i];
      }
    }
  });
  return sums;
}

/// Each gradient is the sum over the replicas of its kind, and exactly one rank counts it.
TEST(JoinedDataParallel, EachKindIsSummedOverItsReplicasAndCountedOnce) {
  const auto expected = expected_gradients();
  for (const Sharding sharding :
       {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
    const Elements elements = counted_gradients({.sharding = sharding});
    EXPECT_EQ(elements.size(), (kLayers + 1 + kLayers / 2 * 2) * kWidth * kWidth);
    for (const auto& [place, values] : elements) {
      ASSERT_EQ(values.size(), 1u) << place.first;
      const double wanted = expected.at(place.first)[static_cast<std::size_t>(place.second)];
      ASSERT_NEAR(values[0], wanted, 1e-5 * std::abs(wanted) + 1e-5) << place.first;
    }
  }
}

/// Flat gradients hold each counted element once, also where pieces of both kinds are neighbours.
TEST(JoinedDataParallel, FlatGradientsJoinNeighboursOfOneKindOnly) {
  comm::run_thread_world(kRanks, [](comm::World& world) {
    const auto device = device::make_device("reference");
    Layers layers(*device, world.rank());
    const auto replicas = join(world, *device, layers, {});
    run_step(*device, layers, *replicas, 0);
    const auto flat = replicas->gradients([](const Parameter&) { return true; });
    Index numel = 0;
    for (const tensor::ConstTensorView& view : flat) {
      numel += view.numel();
    }
    const Index dense = world.rank() == 0 ? (kLayers + 1) * kWidth * kWidth : 0;
    const Index experts = world.rank() < 2 ? kLayers / 2 * kWidth * kWidth : 0;
    EXPECT_EQ(numel, dense + experts);
    EXPECT_EQ(static_cast<Index>(flat.size()), (dense > 0) + (experts > 0));
  });
}

/// What each rank updates reaches the replicas of its kind.
TEST(JoinedDataParallel, UpdatesReachTheReplicasOfTheirKind) {
  for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
    comm::run_thread_world(kRanks, [sharding](comm::World& world) {
      const auto device = device::make_device("reference");
      Layers layers(*device, world.rank());
      const auto replicas =
          join(world, *device, layers, {.sharding = sharding, .gather_in_update = true});
      run_step(*device, layers, *replicas, 0);
      for (std::size_t i = 0; i < replicas->pieces().size(); ++i) {
        const ParameterPiece& piece = replicas->pieces()[i];
        const double value =
            piece.parameter->placement.expert ? 1 + static_cast<double>(world.rank() % 2) : 5;
        test::set_values(piece.value,
                         std::vector<double>(static_cast<std::size_t>(piece.value.numel()), value));
        replicas->piece_updated(i);
      }
      replicas->gather_parameters();
      replicas->make_whole();
      for (const Parameter& parameter : layers.parameters()) {
        const double value =
            parameter.placement.expert ? 1 + static_cast<double>(world.rank() % 2) : 5;
        EXPECT_EQ(test::values_of(parameter.value), std::vector<double>(kWidth * kWidth, value));
      }
      world.all()->barrier();
    });
  }
}

}  // namespace joined_data_parallel_test
}  // namespace mpitron::parallel
