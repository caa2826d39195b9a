#include "comm/parallel_groups.h"

namespace mpitron::comm {

ParallelGroups groups_of_one(World& world) {
  const GroupHandle alone = world.make_group("alone", {world.rank()});
  return {.tensor = alone,
          .context = alone,
          .data = alone,
          .data_context = alone,
          .pipeline = alone,
          .model = alone,
          .embedding = alone,
          .position_embedding = alone};
}

}  // namespace mpitron::comm
