#include "parallel/fully_sharded.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "autograd/parameter_unit.h"
#include "autograd/toy_model.h"
#include "support/replicas.h"

namespace mpitron::parallel {
namespace fully_sharded_test {

using autograd::Context;
using autograd::Tape;
using autograd::Var;
namespace toy = autograd::toy;

constexpr Index kRanks = 4, kLayers = 5;

/// A chain of layers of one matrix each, and one outside them that is used at both ends.
class Chain {
 public:
  explicit Chain(device::Device& device) : device_(device) {
    for (Index unit = 0; unit <= kLayers; ++unit) {
      Parameter& weight = toy::make_weight(device_, parameters_, 8, 8);
      weight.name = unit == 0 ? "tied" : "layer " + std::to_string(unit);
      weight.placement.unit = unit;
    }
  }
  /// Counts the layers whose values are here while one runs.
  Var forward(Context& context, Var x, Index& most_whole) {
    x = toy::linear(context, x, *parameters_.begin());
    for (Index number = 1; number <= kLayers; ++number) {
      Parameter& weight = *std::next(parameters_.begin(), number);
      const auto layer = [&, this](Context& inner, const Var& in) {
        most_whole = std::max(most_whole, whole_layers());
        return toy::linear(inner, in, weight);
      };
      x = autograd::in_unit(context, number, layer, x);
    }
    return toy::linear(context, x, *parameters_.begin());
  }
  Index whole_layers() const {
    return std::count_if(std::next(parameters_.begin()), parameters_.end(),
                         [](const Parameter& parameter) { return bool(parameter.value); });
  }
  ParameterList& parameters() { return parameters_; }

 private:
  device::Device& device_;
  ParameterList parameters_;
};

void run_step(device::Device& device, Chain& chain, DataParallel& replicas, Index& most_whole) {
  replicas.begin_step();
  Tape tape;
  for (unsigned i = 0; i < 2; ++i) {
    Context cx{.device = device, .recorder = {.tape = &tape, .usage = &tape, .keeper = &replicas}};
    const auto random = [&](unsigned seed) {
      return test::random_tensor(device, {6, 8}, DType::f32, 10 * seed + i);
    };
    replicas.begin_pass(autograd::Pass::forward);
    const Var y = chain.forward(cx, autograd::variable(random(1)), most_whole);
    replicas.begin_pass(autograd::Pass::backward);
    tape.backward(cx, y.slot, random(2));
    tape.clear();
  }
  replicas.finish_step();
}

/// Two layers at most are whole (the one that runs and, under way, the next), none between steps.
TEST(FullySharded, HoldsTwoLayersAtOnce) {
  comm::run_thread_world(kRanks, [](comm::World& world) {
    const auto device = device::make_device("reference");
    Chain chain(*device);
    FullySharded replicas(*device, chain.parameters().all(), {.sharding = Sharding::parameters},
                          test::replica_groups(world, kRanks));
    EXPECT_EQ(chain.whole_layers(), 0);
    Index most_whole = 0;
    run_step(*device, chain, replicas, most_whole);
    EXPECT_EQ(most_whole, 1);
    EXPECT_EQ(chain.whole_layers(), 0);
    replicas.make_whole();
    EXPECT_EQ(chain.whole_layers(), kLayers);
  });
}

/// What a gathered layer takes: 64 elements, padded to 64 for every rank.
Index layer_bytes() {
  const auto device = device::make_device("reference");
  const auto layer = tensor::Tensor::empty(*device, {64 * kRanks}, DType::f32);
  return device->allocator().statistics().bytes_in_use;
}

/// Bytes in use at the most, in a step of a chain.
Index most_bytes(const DataParallelOptions& options) {
  Index most = 0;
  comm::run_thread_world(kRanks, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    Chain chain(*device);
    FullySharded replicas(*device, chain.parameters().all(), options,
                          test::replica_groups(world, kRanks));
    Index most_whole = 0;
    run_step(*device, chain, replicas, most_whole);
    if (world.rank() == 0) {
      most = device->allocator().statistics().high_water;
    }
  });
  return most;
}

/// The size to have whole says how many layers are gathered ahead.
TEST(FullySharded, GathersAheadUpToTheSuggestedSize) {
  constexpr Index kLayer = 64 * kRanks;
  DataParallelOptions options{.sharding = Sharding::parameters};
  const Index one_ahead = most_bytes(options);
  options.gathered_elements = 2 * kLayer;
  EXPECT_EQ(most_bytes(options), one_ahead);
  options.gathered_elements = kLayer;
  EXPECT_EQ(most_bytes(options), one_ahead - layer_bytes());
  options.gathered_elements = 3 * kLayer;
  EXPECT_EQ(most_bytes(options), one_ahead + layer_bytes());
}

/// Two buffers stay, whatever the depth; also behind a gathering of all layers.
TEST(FullySharded, KeptBuffersAreTwo) {
  comm::run_thread_world(kRanks, [](comm::World& world) {
    const auto device = device::make_device("reference");
    const auto bytes_kept = [&](bool keep) {
      Chain chain(*device);
      FullySharded replicas(*device, chain.parameters().all(),
                            {.sharding = Sharding::parameters, .keep_gather_buffers = keep},
                            test::replica_groups(world, kRanks));
      Index most_whole = 0;
      for (int step = 0; step < 2; ++step) {
        replicas.make_whole();
        run_step(*device, chain, replicas, most_whole);
      }
      return device->allocator().statistics().bytes_in_use;
    };
    EXPECT_EQ(bytes_kept(true) - bytes_kept(false), 2 * layer_bytes());
  });
}

/// The memory between steps is the rank's part: parameters, gradients.
TEST(FullySharded, KeepsPartsOnly) {
  comm::run_thread_world(kRanks, [](comm::World& world) {
    const auto device = device::make_device("reference");
    Index elements = 0;
    Chain chain(*device);
    FullySharded replicas(*device, chain.parameters().all(), {.sharding = Sharding::parameters},
                          test::replica_groups(world, kRanks));
    for (const ParameterPiece& piece : replicas.pieces()) {
      elements += piece.value.numel();
    }
    // Units of 64 elements are padded to 64 for every rank: the first ranks hold it all.
    EXPECT_EQ(elements, world.rank() == 0 ? chain.parameters().numel() : 0);
  });
}

/// Same sums as whole gradients give, with any way of overlapping.
TEST(FullySharded, GradientsAreThoseOfWholeParameters) {
  comm::run_thread_world(kRanks, [](comm::World& world) {
    const auto device = device::make_device("reference");
    std::vector<std::vector<double>> results;
    for (const Sharding sharding : {Sharding::none, Sharding::gradients, Sharding::parameters}) {
      for (const bool overlap : {false, true}) {
        Chain chain(*device);
        const auto replicas = make_data_parallel(
            *device, chain.parameters().all(),
            {.sharding = sharding,
             .overlap_grad_reduce = overlap,
             .overlap_param_gather = overlap,
             .gathered_elements = overlap ? std::optional<Index>(700) : std::nullopt,
             .keep_gather_buffers = overlap},
            test::replica_groups(world, sharding == Sharding::none ? 1 : kRanks));
        Index most_whole = 0;
        run_step(*device, chain, *replicas, most_whole);
        std::vector<double>& result = results.emplace_back();
        for (const ParameterPiece& piece : replicas->pieces()) {
          const std::vector<double> values = test::values_of(piece.main_grad);
          result.insert(result.end(), values.begin(), values.end());
        }
      }
    }
    for (const std::vector<double>& result : results) {
      if (world.rank() == 0) {
        ASSERT_EQ(result.size(), results[0].size());
        for (std::size_t i = 0; i < result.size(); ++i) {
          EXPECT_NEAR(result[i], results[0][i], 1e-5 * std::abs(results[0][i]) + 1e-6);
        }
      }
    }
  });
}

/// Two instances of two ranks: each element is updated by one rank of the four, and all get it.
TEST(FullySharded, ReplicasMayShareWhatTheyUpdate) {
  for (const Sharding sharding : {Sharding::gradients, Sharding::parameters}) {
    comm::run_thread_world(kRanks, [sharding](comm::World& world) {
      const auto device = device::make_device("reference");
      Chain chain(*device);
      FullySharded replicas(*device, chain.parameters().all(),
                            {.sharding = sharding, .replicas_share = true},
                            test::replica_groups(world, kRanks / 2));
      Index most_whole = 0;
      run_step(*device, chain, replicas, most_whole);
      Index updated = 0;
      for (const ParameterPiece& piece : replicas.pieces()) {
        std::vector<double> places(static_cast<std::size_t>(piece.value.numel()));
        std::iota(places.begin(), places.end(), static_cast<double>(piece.begin));
        test::set_values(piece.value, places);
        updated += piece.value.numel();
        EXPECT_TRUE(piece.counted);  // nobody else has it
      }
      EXPECT_EQ(world.all()->reduce(static_cast<double>(updated)),
                static_cast<double>(chain.parameters().numel()));
      replicas.gather_parameters();
      replicas.make_whole();
      for (const Parameter& parameter : chain.parameters()) {
        const std::vector<double> values = test::values_of(parameter.value);
        for (std::size_t i = 0; i < values.size(); ++i) {
          ASSERT_EQ(values[i], static_cast<double>(i)) << parameter.name;
        }
      }
      world.all()->barrier();
    });
  }
}

}  // namespace fully_sharded_test
}  // namespace mpitron::parallel
