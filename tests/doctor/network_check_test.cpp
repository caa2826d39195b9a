#include "doctor/network_check.h"

#include <gtest/gtest.h>

namespace mpitron::doctor {
namespace network_check_test {

using Names = std::vector<std::string>;

const std::vector<Interface> kMachine = {{"lo", true, true, {"127.0.0.1"}},
                                         {"eth0", true, false, {"10.1.2.3"}},
                                         {"eth1", false, false, {}},
                                         {"ib0", true, false, {"192.168.0.3"}},
                                         {"docker0", true, false, {"172.17.0.1"}}};
const std::vector<Interface> kPlain = {kMachine[0], kMachine[1]};

TEST(NetworkCheck, ReadsPatternsAsNcclDoes) {
  EXPECT_EQ(nccl_choice("eth", kMachine), Names({"eth0", "eth1"}));
  EXPECT_EQ(nccl_choice("=eth0", kMachine), Names({"eth0"}));
  EXPECT_EQ(nccl_choice("=eth", kMachine), Names());
  EXPECT_EQ(nccl_choice("ib,eth1", kMachine), Names({"eth1", "ib0"}));
  EXPECT_EQ(nccl_choice("^docker,lo", kMachine), Names({"eth0", "eth1", "ib0"}));
  EXPECT_EQ(nccl_choice("^=eth0", kMachine), Names({"lo", "eth1", "ib0", "docker0"}));
}

TEST(NetworkCheck, ReadsListsAsOpenMpiDoes) {
  EXPECT_EQ(open_mpi_choice("eth0,ib0", kMachine), Names({"eth0", "ib0"}));
  EXPECT_EQ(open_mpi_choice("eth", kMachine), Names());
  EXPECT_EQ(open_mpi_choice("10.1.0.0/16", kMachine), Names({"eth0"}));
  EXPECT_EQ(open_mpi_choice("10.1.4.0/23", kMachine), Names());
  EXPECT_EQ(open_mpi_choice("0.0.0.0/0", kPlain), Names({"lo", "eth0"}));
  EXPECT_EQ(open_mpi_choice("10.1.2.3/32", kMachine), Names({"eth0"}));
  EXPECT_EQ(open_mpi_choice("nonsense/99", kMachine), Names());
}

TEST(NetworkCheck, GoodChoicesPass) {
  const auto results = check_network(
      kMachine, {{"NCCL_SOCKET_IFNAME", "ib"}, {"OMPI_MCA_btl_tcp_if_include", "10.1.0.0/16"}});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].verdict, Verdict::ok);
  EXPECT_EQ(results[0].found, "NCCL_SOCKET_IFNAME=ib means ib0");
  EXPECT_EQ(results[1].verdict, Verdict::ok);
}

TEST(NetworkCheck, InterfacesThatAreNotThereFail) {
  const auto absent = check_network(kMachine, {{"NCCL_SOCKET_IFNAME", "bond0"}});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].verdict, Verdict::fail);
  EXPECT_NE(absent[0].found.find("fits no interface"), std::string::npos);
  EXPECT_EQ(absent[0].advice, "export NCCL_SOCKET_IFNAME=eth0 (up here: eth0, ib0, docker0)");
  const auto down = check_network(kMachine, {{"OMPI_MCA_oob_tcp_if_include", "eth1"}});
  ASSERT_EQ(down.size(), 1U);
  EXPECT_EQ(down[0].verdict, Verdict::fail);
  EXPECT_NE(down[0].found.find("which is down"), std::string::npos);
}

TEST(NetworkCheck, IncludeAndExcludeContradict) {
  const auto results = check_network(
      kMachine, {{"OMPI_MCA_btl_tcp_if_include", "eth0"}, {"OMPI_MCA_btl_tcp_if_exclude", "lo"}});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1].verdict, Verdict::fail);
  EXPECT_EQ(results[1].advice, "unset OMPI_MCA_btl_tcp_if_exclude");
}

TEST(NetworkCheck, ContainersInterfacesMisleadWhereNothingIsSet) {
  const auto results = check_network(kMachine, {});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].verdict, Verdict::warn);
  EXPECT_EQ(results[0].advice,
            "export OMPI_MCA_btl_tcp_if_include=eth0,ib0 NCCL_SOCKET_IFNAME=eth0,ib0");
  EXPECT_EQ(check_network(kPlain, {})[0].verdict, Verdict::ok);
  EXPECT_EQ(check_network({kMachine[0]}, {})[0].verdict, Verdict::warn);
}

}  // namespace network_check_test

}  // namespace mpitron::doctor
