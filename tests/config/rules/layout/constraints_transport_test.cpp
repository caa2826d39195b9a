#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_transport_test {

constexpr test::RuleCase kCases[] = {
    {"--nccl-communicator-config-path /no/such/file", "E175", "/no/such/file"},
    {"--high-priority-stream-groups dp_cp zp", "E176", "zp is none of dp dp_cp"},
    {"--pipeline-model-parallel-comm-backend ucc", "E177",
     "Nearest: --pipeline-model-parallel-comm-backend nccl"},
    {"--sharp-enabled-group dp", "E209", "Nearest: --use-sharp"},
    {"--use-sharp --distributed-backend mpi", "E209", "Nearest: --distributed-backend nccl"},
    {"--use-nccl-ub --distributed-backend mpi", "E217", "Nearest: --distributed-backend nccl"},
    {"--use-sharp --sharp-enabled-group dp_replica", "E209", "one instance of the optimizer"},
};

TEST(TransportConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kCases);
}

TEST(TransportConstraints, EveryRuleHasAnExample) {
  test::expect_examples(transport_constraints(), kCases);
}

TEST(TransportConstraints, BackendsAreKnownAndGlooIsToldToBeMpi) {
  using enum DistributedBackend;
  EXPECT_EQ(test::parse_base("").run.parallel.distributed_backend, nccl);
  EXPECT_EQ(test::parse_base("--distributed-backend mpi").run.parallel.distributed_backend, mpi);
  const ParsedRun gloo = test::parse_base("--distributed-backend gloo");
  EXPECT_EQ(gloo.run.parallel.distributed_backend, mpi);
  ASSERT_EQ(gloo.notices.size(), 1U);
  EXPECT_NE(gloo.notices[0].find("MPI takes its place"), std::string::npos);
  EXPECT_TRUE(test::parse_base("--high-priority-stream-groups dp_cp ep_dp").findings.empty());
}

}  // namespace constraints_transport_test
}  // namespace mpitron::config
